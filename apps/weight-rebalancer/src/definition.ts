import type { ServiceDefinition } from "@evenkeel/runtime";
import packageJson from "../package.json" with { type: "json" };
import { decider } from "./decide/decide.ts";
import { metrics } from "./metrics.ts";
import { settings } from "./settings.ts";

export const weightRebalancer = {
  name: "weight-rebalancer",
  summary: "say here in one sentence what it keeps level",
  version: packageJson.version,
  settings,
  metrics,
  decider,
} satisfies ServiceDefinition<typeof settings, typeof metrics, typeof decider>;
