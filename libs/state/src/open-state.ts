import type { MetricRegistry } from "@evenkeel/metrics";
import type { Clock, Logger } from "@evenkeel/runtime";
import { parseAddress } from "./address.ts";
import { stateMetrics } from "./metrics.ts";
import { RedisState } from "./redis/redis-state.ts";
import { SqliteState } from "./sqlite/sqlite-state.ts";
import type { State } from "./state.ts";

/** What a state needs of its service; a `Service` of the runtime has it all but the name. */
export interface StateHost {
  /** Part of every key in Redis: services that share one do not meet. */
  readonly service: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly registry: MetricRegistry;
  /** How long one call to Redis may take, in milliseconds; the setting `stateDeadline`. */
  readonly deadline: number;
  /** Uniform in [0, 1); spreads reconnects. */
  readonly random?: () => number;
}

/**
 * The state at `address`, the value of EVENKEEL_STATE. A component: it opens with the service and closes with it.
 * Throws EK_STATE_BAD_ADDRESS.
 */
export function openState(address: string, host: StateHost): State {
  const { service, clock, registry, deadline, random = Math.random } = host;
  const parsed = parseAddress(address);
  const log = host.log.child({ component: "state" });
  const metrics = registry.register(stateMetrics);
  if (parsed.home === "sqlite") return new SqliteState({ file: parsed.file, clock, log, metrics });
  return new RedisState({ address: parsed, service, clock, random, log, metrics, deadline });
}
