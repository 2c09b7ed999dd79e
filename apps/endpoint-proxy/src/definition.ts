import { operatorContradictions } from "@evenkeel/operator";
import type { ServiceDefinition } from "@evenkeel/runtime";
import packageJson from "../package.json" with { type: "json" };
import { proxyDecider } from "./decide/proxy-decider.ts";
import { metrics } from "./metrics.ts";
import { settings } from "./settings.ts";

export const endpointProxy = {
  name: "endpoint-proxy",
  summary: "one API server for many clusters: scores them and splits replicas by score",
  version: packageJson.version,
  settings,
  metrics,
  decider: proxyDecider,
  contradictions: (given) => [
    ...operatorContradictions(given),
    ...(given.watchNamespaces.length === 1 ? [] : ["--watch-namespaces takes exactly one namespace"]),
    ...((given.basicAuthUsername === undefined) === (given.basicAuthPassword === undefined)
      ? []
      : ["--basic-auth-username and --basic-auth-password are set together or not at all"]),
  ],
} satisfies ServiceDefinition<typeof settings, typeof metrics, typeof proxyDecider>;
