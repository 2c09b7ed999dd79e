import type { ServiceDefinition } from "@evenkeel/runtime";
import packageJson from "../package.json" with { type: "json" };
import { trimDecider } from "./decide/trim.ts";
import { metrics } from "./metrics.ts";
import { settings } from "./settings.ts";

export const ballast = {
  name: "ballast",
  summary: "keeps the level of a tank: the smallest service that uses all of the runtime",
  version: packageJson.version,
  settings,
  metrics,
  decider: trimDecider,
  contradictions: ({ target, tolerance }) =>
    tolerance > target
      ? [`--tolerance ${tolerance} is more than --target ${target}: an empty tank would pass; lower it`]
      : [],
} satisfies ServiceDefinition<typeof settings, typeof metrics, typeof trimDecider>;
