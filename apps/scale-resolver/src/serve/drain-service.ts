import { type LeaderRelay, objectFilter } from "@evenkeel/operator";
import { drainV1, type Permission, rpcErrors, type Served } from "@evenkeel/rpc";
import type { Clock } from "@evenkeel/runtime";
import type { ServiceEndpoint } from "../observe/endpoints.ts";
import type { Board, ReconcileResult } from "./board.ts";
import { LeaderSilent } from "./errors.ts";
import type { Preparations } from "./preparations.ts";
import { durationMessage, millisecondsOf, timeMessage } from "./times.ts";

export interface DrainServiceOptions {
  readonly preparations: Preparations;
  readonly board: Board;
  /** The pods behind a Service, by its key; null if they are not known yet. */
  readonly endpoints: (key: string) => readonly ServiceEndpoint[] | null;
  readonly clock: Clock;
  /** Calls the leader: only its reconciles know whether requests would be held. */
  readonly relay: Pick<LeaderRelay, "leads" | "ask" | "answerBy">;
}

type Implementation = drainV1.DrainHookServiceImplementation;
type Answer = drainV1.DeepPartial<drainV1.PrepareResponse>;
type Pod = Pick<drainV1.Pod, "namespace" | "name" | "uid">;

const { PREPARATION_READY, PREPARATION_WORKING, PREPARATION_NOT_CONCERNED } = drainV1.Preparation;
const { PrepareRequest, PrepareResponse, ReleaseRequest } = drainV1;
const NOT_CONCERNED = "The pod is behind no Service that scale-resolver manages";
const RETRY_AFTER = 500;
const SHORTEST_HOLD = 1000;
const LONGEST_HOLD = 3_600_000;
const LONGEST_TEXT = 253;

/** A caller that prepares a pod must be allowed to evict it. */
const mayEvict = ({ pod }: { pod?: drainV1.Pod | undefined }): Permission => ({
  verb: "create",
  object: {
    group: "",
    resource: "pods",
    subresource: "eviction",
    namespace: pod?.namespace ?? "",
    name: pod?.name ?? "",
  },
});

/**
 * `evenkeel.drain.v1.DrainHook`: puts the resolver into the path of a Service before its last pod is evicted, so that
 * requests are held.
 */
export function drainService(options: DrainServiceOptions): Served<drainV1.DrainHookDefinition> {
  return {
    definition: drainV1.DrainHookDefinition,
    implementation: new DrainService(options),
    access: { prepare: mayEvict, release: mayEvict },
  };
}

class DrainService implements Implementation {
  readonly #options: DrainServiceOptions;

  constructor(options: DrainServiceOptions) {
    this.#options = options;
    options.relay.answerBy((method, request) => {
      if (method === "Release") return this.#release(ReleaseRequest.decode(request));
      return PrepareResponse.encode(
        PrepareResponse.fromPartial(this.#prepare(PrepareRequest.decode(request))),
      ).finish();
    });
  }

  prepare: Implementation["prepare"] = async (request) => {
    const { relay } = this.#options;
    const { pod } = preparationOf(request);
    if (relay.leads) return this.#prepare(request);
    const answer = await relay.ask("Prepare", PrepareRequest.encode(request).finish());
    return answer ? PrepareResponse.decode(answer) : this.#unanswered(pod);
  };

  release: Implementation["release"] = async (request) => {
    const { relay } = this.#options;
    // Also releases what this replica prepared while it was the leader.
    this.#release(request);
    if (relay.leads || (await relay.ask("Release", ReleaseRequest.encode(request).finish()))) return {};
    throw new LeaderSilent({ method: "Release" });
  };

  #release(request: drainV1.ReleaseRequest): Uint8Array {
    const { uid } = podOf("Release", request);
    this.#options.preparations.release(uid, evictionOf("Release", request));
    return new Uint8Array();
  }

  /** The managed Services in the pod's namespace, with the pods behind each. */
  #behind({
    namespace,
  }: Pod): readonly { readonly key: string; readonly endpoints: readonly ServiceEndpoint[] | null }[] {
    const { board, endpoints } = this.#options;
    const keys = board.keys().filter(objectFilter("Prepare", { namespace, name: "" }));
    return keys.map((key) => ({ key, endpoints: endpoints(key) }));
  }

  /** Every replica knows the pods that are behind no managed Service. */
  #unanswered(pod: Pod): Answer {
    const mayConcern = this.#behind(pod).some(({ endpoints }) => endpoints?.some(({ uid }) => uid === pod.uid) ?? true);
    if (!mayConcern) return { preparation: PREPARATION_NOT_CONCERNED, message: NOT_CONCERNED };
    return {
      preparation: PREPARATION_WORKING,
      message: "The leader did not answer; nothing is prepared yet",
      retryAfter: durationMessage(RETRY_AFTER),
    };
  }

  #prepare(request: drainV1.PrepareRequest): Answer {
    const { board, preparations, clock } = this.#options;
    const { pod, eviction, hold } = preparationOf(request);
    const answer = (preparation: drainV1.Preparation, message: string): Answer => ({
      preparation,
      message,
      ...(preparation !== PREPARATION_NOT_CONCERNED && { expiresAt: timeMessage(clock.now() + hold) }),
      ...(preparation === PREPARATION_WORKING && { retryAfter: durationMessage(RETRY_AFTER) }),
    });

    const behind = this.#behind(pod);
    const unknown = behind.find((one) => one.endpoints === null);
    if (unknown) return answer(PREPARATION_WORKING, `The endpoints of Service ${unknown.key} are not known yet`);
    const concerned = behind.filter((one) => one.endpoints?.some(({ uid }) => uid === pod.uid));
    if (concerned.length === 0 && !preparations.find(pod.uid, eviction)) {
      return answer(PREPARATION_NOT_CONCERNED, NOT_CONCERNED);
    }

    const managed = concerned.filter(({ key }) => !isBlocked(board.lastResult(key)));
    const before = preparations.find(pod.uid, eviction)?.services ?? [];
    const last = managed
      .filter(({ key, endpoints }) => this.#isLast(pod, endpoints ?? [], before.includes(key)))
      .map(({ key }) => key);
    preparations.keep({ uid: pod.uid, eviction, services: last }, hold);
    const missing = last.flatMap((key) => whyNotYet(key, board.lastResult(key)) ?? []);
    if (missing.length > 0) return answer(PREPARATION_WORKING, missing.join("; "));
    if (last.length > 0)
      return answer(PREPARATION_READY, `Requests to ${last.join(" and ")} are held if the pod terminates`);
    return answer(PREPARATION_READY, "The Services of the pod have other ready pods, or are paused");
  }

  /**
   * Pods that are about to be evicted do not count: if both of two pods are prepared at once, each is the last. A pod
   * that was the last stays so while it terminates.
   */
  #isLast({ uid }: Pod, endpoints: readonly ServiceEndpoint[], wasLast: boolean): boolean {
    const { preparations } = this.#options;
    const isOne = wasLast || endpoints.some((endpoint) => endpoint.uid === uid && endpoint.ready);
    return isOne && !endpoints.some((one) => one.ready && one.uid !== uid && !preparations.isPodPrepared(one.uid));
  }
}

/** Whether scale-resolver must not change the service, so the eviction does not wait for it. */
function isBlocked(result: ReconcileResult | undefined): boolean {
  return result !== undefined && (result.snapshot.blocked !== null || result.decision.dryRun);
}

/** Why requests to a Service would not be held if its last pod terminated now. */
function whyNotYet(key: string, result: ReconcileResult | undefined): string | undefined {
  if (!result) return `Service ${key} was not reconciled yet`;
  const { stage, snapshot } = result;
  if (stage.state === "Zero" || stage.state === "Wake") return undefined;
  if (stage.state === "Serve") return `Requests to Service ${key} are not redirected to the resolver yet`;
  // A reconcile observes the path before it acts, so a new path is verified by the next reconcile at the earliest.
  if (snapshot.path.joined && snapshot.path.provenAt !== null) return undefined;
  return `No probe request through Service ${key} has reached the resolver yet`;
}

function preparationOf(request: drainV1.PrepareRequest) {
  return { pod: podOf("Prepare", request), eviction: evictionOf("Prepare", request), hold: holdOf(request) };
}

function podOf(method: string, { pod }: { readonly pod?: drainV1.Pod | undefined }): Pod {
  const given = { namespace: pod?.namespace ?? "", name: pod?.name ?? "", uid: pod?.uid ?? "" };
  for (const [field, text] of Object.entries(given)) bounded(method, `pod.${field}`, text);
  return given;
}

function evictionOf(method: string, { eviction }: { readonly eviction: string }): string {
  return bounded(method, "eviction", eviction);
}

function bounded(method: string, field: string, text: string): string {
  if (text === "") throw new rpcErrors.BadRequest({ method, fault: `${field} is required` });
  if (text.length > LONGEST_TEXT) {
    throw new rpcErrors.BadRequest({ method, fault: `${field} is longer than ${LONGEST_TEXT} characters` });
  }
  return text;
}

function holdOf({ hold }: Pick<drainV1.PrepareRequest, "hold">): number {
  const milliseconds = hold ? millisecondsOf(hold) : 0;
  if (milliseconds < SHORTEST_HOLD || milliseconds > LONGEST_HOLD) {
    throw new rpcErrors.BadRequest({ method: "Prepare", fault: "hold must be between 1 s and 1 h" });
  }
  return milliseconds;
}
