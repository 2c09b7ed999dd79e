import { z } from "zod";
import { partsOf, type TargetGroup } from "../target-group.ts";
import { labels } from "./config-fields.ts";
import type { StaticBlock } from "./discovery-block.ts";

const address = z
  .string()
  .refine((text) => !text.includes("/"), "a target is a host and a port, without a scheme or path");

/** All of `static_configs`. */
export const staticConfigs = z
  .array(z.strictObject({ targets: z.array(address).nullish(), labels: labels.nullish() }))
  .transform((groups): readonly StaticBlock[] => [
    {
      mechanism: "static",
      groups: groups.map((group) => ({ targets: group.targets ?? [], labels: group.labels ?? {} })),
    },
  ]);

/** The groups of `static_configs`, which never change. */
export function staticGroups({ groups }: StaticBlock): readonly TargetGroup[] {
  return groups.flatMap((group, index) =>
    partsOf({
      source: String(index),
      labels: new Map(Object.entries(group.labels)),
      targets: group.targets.map((target) => new Map([["__address__", target]])),
    }),
  );
}
