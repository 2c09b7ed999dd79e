import { operatorContradictions } from "@evenkeel/operator";
import type { ServiceDefinition } from "@evenkeel/runtime";
import packageJson from "../package.json" with { type: "json" };
import { levelDecider } from "./decide/level-decider.ts";
import { metrics } from "./metrics.ts";
import { settings } from "./settings.ts";

export const evictionPlanner = {
  name: "eviction-planner",
  summary: "say here in one sentence what it keeps level",
  version: packageJson.version,
  settings,
  metrics,
  decider: levelDecider,
  contradictions: operatorContradictions,
} satisfies ServiceDefinition<typeof settings, typeof metrics, typeof levelDecider>;
