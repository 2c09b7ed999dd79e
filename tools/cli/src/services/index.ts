import type { Registration } from "./registration.ts";
import { weightRebalancerRegistration } from "./weight-rebalancer.ts";
import { scaleResolverRegistration } from "./scale-resolver.ts";
import { evictionPlannerRegistration } from "./eviction-planner.ts";
import { collectorSchedulerRegistration } from "./collector-scheduler.ts";
import { endpointProxyRegistration } from "./endpoint-proxy.ts";

/** Every service that this program knows. A new service is one file and one entry here. */
export const registrations: readonly Registration[] = [
  weightRebalancerRegistration,
  scaleResolverRegistration,
  evictionPlannerRegistration,
  collectorSchedulerRegistration,
  endpointProxyRegistration,
];
