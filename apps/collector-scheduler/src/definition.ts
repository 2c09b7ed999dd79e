import { operatorContradictions } from "@evenkeel/operator";
import type { ServiceDefinition } from "@evenkeel/runtime";
import packageJson from "../package.json" with { type: "json" };
import { fleetDecider } from "./decide/fleet-decider.ts";
import { metrics } from "./metrics.ts";
import { settings } from "./settings.ts";

export const collectorScheduler = {
  name: "collector-scheduler",
  summary: "keeps scrape targets level across telemetry collectors: spread evenly, moved rarely, never dropped",
  version: packageJson.version,
  settings,
  metrics,
  decider: fleetDecider,
  contradictions: operatorContradictions,
} satisfies ServiceDefinition<typeof settings, typeof metrics, typeof fleetDecider>;
