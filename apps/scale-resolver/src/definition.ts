import { operatorContradictions } from "@evenkeel/operator";
import type { ServiceDefinition } from "@evenkeel/runtime";
import packageJson from "../package.json" with { type: "json" };
import { portRangeContradictions } from "./act/port-range.ts";
import { stateDecider } from "./decide/state-decider.ts";
import { metrics } from "./metrics.ts";
import { settings } from "./settings.ts";

export const scaleResolver = {
  name: "scale-resolver",
  summary: "scales idle services to zero and holds requests until they wake",
  version: packageJson.version,
  settings,
  metrics,
  decider: stateDecider,
  contradictions: (settings) => [
    ...operatorContradictions(settings),
    ...portRangeContradictions(settings.portRange, {
      "--port": settings.port,
      "--admin-port": settings.adminPort,
      "--health-port": settings.healthPort,
      "--grpc-port": settings.grpcPort,
    }),
  ],
} satisfies ServiceDefinition<typeof settings, typeof metrics, typeof stateDecider>;
