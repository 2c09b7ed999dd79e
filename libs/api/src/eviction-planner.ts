import { z } from "zod";
import { conditions } from "./condition.ts";
import { int64 } from "./field.ts";
import { defineKind, type StatusOf } from "./kind.ts";
import { parse } from "./parse.ts";

const spec = z
  .object({
    configMap: z.string().min(1).max(253).describe("Name of the ConfigMap whose key `level` is kept at `level`."),
    level: int64().describe("The level to keep."),
    dryRun: z.boolean().describe("Decide and announce, but change nothing. Absent: false.").exactOptional(),
  })
  .describe("What to keep, and at which level.");

const status = z
  .object({
    level: int64().describe("The level that was last read. Absent while it is unknown.").exactOptional(),
    conditions: conditions().exactOptional(),
  })
  .describe("What the last reconcile read and did.");

export const KIND = defineKind(
  {
    service: "eviction-planner",
    group: "evenkeel.io",
    version: "v1alpha1",
    kind: "EvictionPlanner",
    plural: "evictionplanners",
    singular: "evictionplanner",
    shortNames: [],
    scope: "Namespaced",
    description: "A level that is kept.",
    printerColumns: [
      { name: "Wanted", type: "integer", jsonPath: ".spec.level" },
      { name: "Level", type: "integer", jsonPath: ".status.level" },
      { name: "Ready", type: "string", jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    ],
  },
  { spec, status },
);

export type EvictionPlanner = z.output<typeof KIND.schema>;

export type EvictionPlannerStatus = StatusOf<typeof KIND>;

export const parseEvictionPlanner = (input: unknown) => parse(KIND.schema, input);
