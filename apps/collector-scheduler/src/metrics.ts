import { counter, gauge, histogram, oneOf, perObject } from "@evenkeel/metrics";
import { MOVE_REASONS } from "./decide/plan.ts";

const object = { namespace: perObject, name: perObject };

/** A gauge of each CollectorLoadBalancer. A former leader no longer exports it. */
const ofFleet = (name: string, help: string) => gauge(name, help, object, { leaderOnly: true });

/**
 * Every metric of collector-scheduler. Those of the OpenTelemetry target allocator that mean the same have its names.
 */
export const metrics = {
  targets: ofFleet("opentelemetry_allocator_targets", "Targets that are to be scraped; absent while not known."),
  unassigned: ofFleet("opentelemetry_allocator_targets_unassigned", "Targets that no collector may have."),
  allocatable: ofFleet("opentelemetry_allocator_collectors_allocatable", "Collectors that may own targets."),
  discovered: ofFleet("opentelemetry_allocator_collectors_discovered", "Collectors that exist or have a seat kept."),
  maxOverMean: ofFleet("collector_scheduler_load_max_over_mean", "The largest load of a collector over the mean."),
  minOverMean: ofFleet("collector_scheduler_load_min_over_mean", "The smallest load of a collector over the mean."),
  handingOver: ofFleet("collector_scheduler_targets_handing_over", "Targets that change their collector now."),
  ready: ofFleet("collector_scheduler_ready", "1 if the last reconcile found no fault, 0 if it did."),
  sourceAge: ofFleet(
    "collector_scheduler_source_age_seconds",
    "Age of the oldest good answer of a discovery source that fails; 0 if none fails.",
  ),
  moves: counter("collector_scheduler_moved_targets_total", "Targets that were given to another collector.", {
    reason: oneOf(...MOVE_REASONS),
  }),
  handOverSeconds: histogram(
    "collector_scheduler_hand_over_seconds",
    "Time from giving a target to its new collector until the former one no longer has it.",
    {},
    [5, 10, 15, 20, 30, 60, 120, 300, 600],
  ),
  requestSeconds: histogram(
    "opentelemetry_allocator_http_duration_seconds",
    "Time to answer a request of a collector.",
    { path: oneOf("scrape_configs", "jobs", "targets", "other") },
    [0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1],
  ),
};
