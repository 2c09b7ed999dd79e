import type { Clock, Component, Logger } from "@evenkeel/runtime";
import type { Workload, WorkloadClients } from "../act/wake-workload.ts";
import type { TargetRef } from "../binding.ts";
import { Retries, type AttemptOptions } from "./retries.ts";

export interface WakeRequest {
  /** `namespace/service`. */
  readonly key: string;
  readonly workload: Workload;
  /** Whether a request still waits for the workload. Must not throw. */
  readonly needed: () => boolean;
}

/** The result of one scale call. */
export type Scaled = "woken" | "awake" | "failed";

export interface WakerOptions extends WorkloadClients {
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly log: Logger;
  /** Must not throw. */
  readonly onScaled: (key: string, outcome: Scaled) => void;
}

/** Milliseconds for which a successful wake is remembered: longer than a reconcile takes. */
const REMEMBERED = 60_000;

/** Wakes workloads for waiting requests, on every replica: the call of a second replica changes nothing. */
export class Waker implements Component {
  readonly name = "waker";
  readonly #options: WakerOptions;
  readonly #wakes: Retries;
  /**
   * Separate, so that an autoscaler that cannot be resumed neither repeats nor delays a wake. `wakeWorkload` would do
   * both, because it is one call that fails if either part does.
   */
  readonly #resumes: Retries;
  /** The scale call in progress by workload, with whether it succeeds. */
  readonly #calls = new Map<string, Promise<boolean>>();
  /** When the last call succeeded by workload, on the monotonic clock; the oldest first. */
  readonly #succeeded = new Map<string, number>();

  constructor(options: WakerOptions) {
    const { clock, random, log } = options;
    this.#options = options;
    this.#wakes = new Retries({ clock, random, log, failure: "could not wake the workload" });
    this.#resumes = new Retries({ clock, random, log, failure: "could not resume the autoscaler" });
  }

  /**
   * Starts the calls that scale the workload and resume its autoscaler, unless they are in progress. Both have started
   * when this returns. The scale call is first, because a pod takes longer to start than an autoscaler to react. Never
   * throws.
   */
  wake({ key, workload, needed }: WakeRequest): void {
    const { namespace, autoscaler } = workload;
    this.#wakes.start(key, { needed, attempt: (options) => this.#scale(key, workload, options) });
    if (!autoscaler) return;
    const attempt = async ({ deadline }: AttemptOptions): Promise<boolean> => {
      await this.#options.autoscalers.resume(namespace, autoscaler, { deadline, active: true });
      // The result does not say whether the autoscaler was paused. False makes repeated calls less frequent.
      return false;
    };
    this.#resumes.start(key, { needed, attempt });
  }

  /** A pod is ready: a request that waits from now on needs another wake. */
  awake(key: string): void {
    this.#wakes.fulfilled(key);
    this.#resumes.fulfilled(key);
  }

  /**
   * Whether a scale call for this workload succeeded after `since`, a time of the monotonic clock. Waits for a call in
   * progress, so that no second one is needed.
   */
  async hasWoken(namespace: string, target: TargetRef, since: number): Promise<boolean> {
    const id = idOf(namespace, target);
    return (await this.#calls.get(id)) === true || (this.#succeeded.get(id) ?? -Infinity) >= since;
  }

  stop(): void {
    this.#wakes.stop();
    this.#resumes.stop();
  }

  /**
   * Resolves with whether the workload was scaled. Pods mostly need longer to start than the pause after a call, so a
   * repeated call first reads whether another client undid the first one: a wake is one write.
   */
  async #scale(
    key: string,
    { namespace, target, minReplicas }: Workload,
    { deadline, again }: AttemptOptions,
  ): Promise<boolean> {
    const { scales, onScaled } = this.#options;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    this.#follow(idOf(namespace, target), promise);
    let outcome: Scaled = "failed";
    try {
      outcome = await scales.wake(namespace, target, minReplicas, { deadline, readFirst: again });
    } finally {
      resolve(outcome !== "failed");
      onScaled(key, outcome);
    }
    return outcome === "woken";
  }

  #follow(id: string, call: Promise<boolean>): void {
    this.#calls.set(id, call);
    void call.then((succeeded) => {
      if (this.#calls.get(id) === call) this.#calls.delete(id);
      if (succeeded) this.#remember(id);
    });
  }

  #remember(id: string): void {
    const now = this.#options.clock.monotonic();
    this.#succeeded.delete(id);
    this.#succeeded.set(id, now);
    for (const [old, at] of this.#succeeded) {
      if (now - at <= REMEMBERED) break;
      this.#succeeded.delete(old);
    }
  }
}

function idOf(namespace: string, { apiVersion, kind, name }: TargetRef): string {
  return `${apiVersion} ${kind} ${namespace}/${name}`;
}
