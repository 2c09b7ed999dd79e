import type { Registration } from "./registration.ts";
import { weightRebalancerRegistration } from "./weight-rebalancer.ts";
import { scaleResolverRegistration } from "./scale-resolver.ts";
import { evictionPlannerRegistration } from "./eviction-planner.ts";

/** Every service that this program knows. A new one is one file and one line here. */
export const registrations: readonly Registration[] = [
  weightRebalancerRegistration,
  scaleResolverRegistration,
  evictionPlannerRegistration,
];
