import { drainV1 } from "@evenkeel/rpc";
import { type Clock, explain, type Logger, sleep } from "@evenkeel/runtime";
import type { PeerAnswer } from "../decide/go.ts";

export interface DrainPeer {
  readonly name: string;
  readonly client: DrainClient;
}

/** The calls of `drain.v1.DrainHook`. */
export interface DrainClient {
  prepare(
    request: drainV1.DeepPartial<drainV1.PrepareRequest>,
    options: { readonly signal: AbortSignal },
  ): Promise<drainV1.PrepareResponse>;
  release(request: drainV1.DeepPartial<drainV1.ReleaseRequest>): Promise<unknown>;
}

export interface DrainPeersOptions {
  readonly peers: readonly DrainPeer[];
  readonly clock: Clock;
  readonly log: Logger;
}

export interface DrainedPod {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly node: string;
}

/** Milliseconds. A preparation outlives the eviction until the replacement is ready, and ends by itself after this. */
const HOLD = 5 * 60_000;
/** Milliseconds for which a peer that is working is asked again. */
const PATIENCE = 20_000;
const [SHORTEST_WAIT, LONGEST_WAIT] = [100, 5000];

const { PREPARATION_READY, PREPARATION_NOT_CONCERNED, PREPARATION_WORKING } = drainV1.Preparation;

/** Tells peers of an eviction before it is made, so that what the pod does goes on elsewhere, and how it ended. */
export class DrainPeers {
  readonly #options: DrainPeersOptions;
  /** By uid, pods that were evicted and whose replacement is not ready yet. */
  readonly #evicted = new Map<string, { readonly pod: DrainedPod; readonly at: number }>();

  constructor(options: DrainPeersOptions) {
    this.#options = options;
  }

  /** The answer of each peer. Never rejects: a peer that does not answer is away. */
  async prepare(pod: DrainedPod, signal: AbortSignal): Promise<readonly PeerAnswer[]> {
    return Promise.all(this.#options.peers.map((peer) => this.#ask(peer, pod, signal)));
  }

  /** The pod stays: peers give back what they took over. */
  async stays(pod: DrainedPod): Promise<void> {
    await this.#release(pod, false);
  }

  /** The pod was evicted. Peers are released when its replacement is ready, or by the end of their hold. */
  evicted(pod: DrainedPod): void {
    const { peers, clock } = this.#options;
    if (peers.length > 0) this.#evicted.set(pod.uid, { pod, at: clock.monotonic() });
  }

  /** What became of an evicted pod is known: its replacement is ready, or there will be none. */
  async landed(uid: string): Promise<void> {
    const now = this.#options.clock.monotonic();
    const pod = this.#evicted.get(uid)?.pod;
    for (const [each, { at }] of this.#evicted) if (each === uid || now - at > HOLD) this.#evicted.delete(each);
    if (pod !== undefined) await this.#release(pod, true);
  }

  async #ask({ name, client }: DrainPeer, pod: DrainedPod, signal: AbortSignal): Promise<PeerAnswer> {
    const { clock, log } = this.#options;
    const until = clock.monotonic() + PATIENCE;
    const request = { pod, eviction: evictionName(pod), hold: { seconds: BigInt(HOLD / 1000), nanos: 0 } };
    try {
      for (;;) {
        const { preparation, message, retryAfter } = await client.prepare(request, { signal });
        const answer = answerOf(preparation);
        if (answer !== "working" || clock.monotonic() >= until) return { peer: name, answer, message };
        await sleep(clock, waitOf(retryAfter), signal);
      }
    } catch (error) {
      const message = explain(error);
      log.warn({ peer: name, pod: `${pod.namespace}/${pod.name}`, fault: message }, "a peer could not be asked");
      return { peer: name, answer: "away", message };
    }
  }

  async #release(pod: DrainedPod, evicted: boolean): Promise<void> {
    const { peers, log } = this.#options;
    const request = { pod, eviction: evictionName(pod), evicted };
    await Promise.all(
      peers.map(({ name, client }) =>
        client.release(request).catch((error: unknown) => {
          log.warn({ peer: name, fault: explain(error) }, "a peer was not released; its preparation expires by itself");
        }),
      ),
    );
  }
}

/** The same in every call about this eviction. */
function evictionName({ uid }: DrainedPod): string {
  return `eviction-planner ${uid}`;
}

function answerOf(preparation: drainV1.Preparation): PeerAnswer["answer"] {
  switch (preparation) {
    case PREPARATION_READY:
      return "ready";
    case PREPARATION_NOT_CONCERNED:
      return "notConcerned";
    case PREPARATION_WORKING:
      return "working";
    default:
      return "refused";
  }
}

function waitOf(retryAfter: drainV1.PrepareResponse["retryAfter"]): number {
  const asked = Number(retryAfter?.seconds ?? 0n) * 1000 + (retryAfter?.nanos ?? 0) / 1e6;
  return Math.min(LONGEST_WAIT, Math.max(SHORTEST_WAIT, asked));
}
