import { resolverV1 } from "@evenkeel/rpc";
import type { State } from "../decide/state.ts";
import type { ServiceView } from "./board.ts";
import type { ServiceHistory } from "./service-history.ts";
import { durationMessage, timeMessage } from "./times.ts";

const { State: StateMessage } = resolverV1;

const STATE_MESSAGES: Readonly<Record<State, resolverV1.State>> = {
  Serve: StateMessage.STATE_SERVE,
  Guard: StateMessage.STATE_GUARD,
  Zero: StateMessage.STATE_ZERO,
  Wake: StateMessage.STATE_WAKE,
};

/** An unknown state is UNSPECIFIED. */
export function stateMessage(state: State | null): resolverV1.State {
  return state === null ? StateMessage.STATE_UNSPECIFIED : STATE_MESSAGES[state];
}

/** Unknown values are omitted, and never zero. */
export function activityMessage(view: ServiceView): resolverV1.DeepPartial<resolverV1.ServiceActivity> {
  const { namespace, service, activity, resolvers, replicas, lastWakeMs, pods, conditions } = view;
  const { pending, inFlight } = activity ?? summed(resolvers);
  return {
    service: { namespace, name: service },
    state: stateMessage(view.state),
    since: timeMessage(view.since),
    ...(replicas === null ? {} : { replicas }),
    pending: BigInt(pending),
    inFlight: BigInt(inFlight),
    activityUnknown: activity === null,
    activityGap: view.activityGap,
    resolvers: resolvers.map((of) => ({
      name: of.replica,
      pending: BigInt(of.pending),
      inFlight: BigInt(of.inFlight),
    })),
    lastRequestAt: timeMessage(activity?.lastRequestAt ?? null),
    lastWake: durationMessage(lastWakeMs),
    reason: view.reason,
    message: view.message,
    decidedAt: timeMessage(view.decidedAt),
    elastiService: view.elastiService,
    target: view.target,
    pods: pods ?? undefined,
    dryRun: view.dryRun,
    paused: view.paused,
    conditions: conditions.map(({ lastTransitionTime, type, status, reason, message }) => {
      return { type, status, reason, message, since: lastTransitionTime };
    }),
  };
}

/** A lower bound: replicas without a report may have more. */
function summed(resolvers: ServiceView["resolvers"]): { readonly pending: number; readonly inFlight: number } {
  const sum = (field: "pending" | "inFlight") => resolvers.reduce((total, of) => total + of[field], 0);
  return { pending: sum("pending"), inFlight: sum("inFlight") };
}

export function historyMessage({
  changes,
  wakes,
  points,
}: ServiceHistory): resolverV1.DeepPartial<resolverV1.HistoryResponse> {
  return {
    changes: changes.map(({ at, state, reason, message }) => {
      return { at: timeMessage(at), state: stateMessage(state), reason, message };
    }),
    wakes: wakes.map(({ startedAt, scaleMs, startMs, connectMs, held }) => ({
      startedAt: timeMessage(startedAt),
      scale: durationMessage(scaleMs),
      start: durationMessage(startMs),
      connect: durationMessage(connectMs),
      held: BigInt(held),
    })),
    queue: points.map(({ at, pending, inFlight, replicas }) => ({
      at: timeMessage(at),
      ...(pending === null ? {} : { pending: BigInt(pending) }),
      ...(inFlight === null ? {} : { inFlight: BigInt(inFlight) }),
      ...(replicas === null ? {} : { replicas }),
    })),
  };
}
