import { operatorContradictions } from "@evenkeel/operator";
import type { ServiceDefinition } from "@evenkeel/runtime";
import packageJson from "../package.json" with { type: "json" };
import { policyDecider } from "./decide/policy-decider.ts";
import { metrics } from "./metrics.ts";
import { usageContradictions } from "./observe/usage/usage-source.ts";
import { settings } from "./settings.ts";

export const evictionPlanner = {
  name: "eviction-planner",
  summary: "keeps load level across nodes: plans few, well-chosen evictions and says what they would bring",
  version: packageJson.version,
  settings,
  metrics,
  decider: policyDecider,
  contradictions: (given) => [...operatorContradictions(given), ...usageContradictions(given)],
} satisfies ServiceDefinition<typeof settings, typeof metrics, typeof policyDecider>;
