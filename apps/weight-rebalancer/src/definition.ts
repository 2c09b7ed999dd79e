import { operatorContradictions } from "@evenkeel/operator";
import { allowFaults } from "@evenkeel/prometheus";
import type { ServiceDefinition } from "@evenkeel/runtime";
import packageJson from "../package.json" with { type: "json" };
import { weightDecider } from "./decide/weight-decider.ts";
import { metrics } from "./metrics.ts";
import { settings } from "./settings.ts";

export const weightRebalancer = {
  name: "weight-rebalancer",
  summary: "keeps load level across sites: DNS and gateway weights that follow a metric",
  version: packageJson.version,
  settings,
  metrics,
  decider: weightDecider,
  contradictions: (given) => [
    ...operatorContradictions(given),
    ...allowFaults(given.prometheusAllow ?? []).map((fault) => `--prometheus-allow: ${fault}`),
  ],
} satisfies ServiceDefinition<typeof settings, typeof metrics, typeof weightDecider>;
