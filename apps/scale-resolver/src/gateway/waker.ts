import type { Clock, Component, Logger } from "@evenkeel/runtime";
import type { AutoscalerRef, TargetRef } from "../binding.ts";
import type { Autoscalers } from "../act/autoscalers.ts";
import { type RetriedTask, Retries } from "./retries.ts";
import type { Scales } from "../act/scales.ts";

export interface WakeRequest {
  /** `namespace/service`. */
  readonly key: string;
  readonly namespace: string;
  readonly target: TargetRef;
  /** Replicas to wake with. */
  readonly to: number;
  readonly autoscaler?: AutoscalerRef | null;
  /** Whether a request still waits for it. Must not throw. */
  readonly needed: () => boolean;
}

/** What came of one call that scales. */
export interface Scaled {
  /** Since the first request that asked for it. */
  readonly milliseconds: number;
  readonly outcome: "woken" | "awake" | "failed";
}

export interface WakerOptions {
  readonly scales: Pick<Scales, "wake">;
  readonly autoscalers: Pick<Autoscalers, "resume">;
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly log: Logger;
  /** Must not throw. */
  readonly onScaled: (key: string, scaled: Scaled) => void;
}

/** How long it is known that a workload was woken, in milliseconds: longer than a turn takes. */
const REMEMBERED = 60_000;

/** Wakes workloads for requests that wait, on every replica: whoever comes second finds it done. */
export class Waker implements Component {
  readonly name = "waker";
  readonly #options: WakerOptions;
  readonly #scaling: Retries;
  readonly #resuming: Retries;
  /** By workload, the call that is under way, and whether it succeeds. */
  readonly #calls = new Map<string, Promise<boolean>>();
  /** By workload, when the last call succeeded, by the monotonic clock; the oldest first. */
  readonly #succeeded = new Map<string, number>();

  constructor(options: WakerOptions) {
    const { clock, random, log } = options;
    this.#options = options;
    this.#scaling = new Retries({ clock, random, log, undone: "the workload is not woken" });
    this.#resuming = new Retries({ clock, random, log, undone: "the autoscaler is not resumed" });
  }

  /** For the path of requests: the call that scales is under way when this returns, unless it was already. Never throws. */
  wake(request: WakeRequest): void {
    const { key, autoscaler } = request;
    this.#scaling.start(key, this.#scale(request));
    // Beside it and not before: the pod takes longer to start than an autoscaler to look.
    if (autoscaler?.type === "keda") this.#resuming.start(key, this.#resume(request, autoscaler));
  }

  /** A pod is ready: whoever waits from now on waits for another wake. */
  awake(key: string): void {
    this.#scaling.fulfilled(key);
    this.#resuming.fulfilled(key);
  }

  /**
   * Whether a call that scales this workload has succeeded since that time of the monotonic clock. One that is under way is waited for, so that nobody else need
   * make it.
   */
  async hasWoken(namespace: string, target: TargetRef, since: number): Promise<boolean> {
    const workload = workloadOf(namespace, target);
    return (await this.#calls.get(workload)) === true || (this.#succeeded.get(workload) ?? -Infinity) >= since;
  }

  stop(): void {
    this.#scaling.stop();
    this.#resuming.stop();
  }

  #scale({ key, namespace, target, to, needed }: WakeRequest): RetriedTask {
    const { scales, clock, onScaled } = this.#options;
    return {
      needed,
      attempt: async ({ deadline, asked }) => {
        const tell = (outcome: Scaled["outcome"]): void =>
          onScaled(key, { milliseconds: clock.monotonic() - asked, outcome });
        const call = scales.wake(namespace, target, to, { deadline });
        this.#follow(workloadOf(namespace, target), call);
        const outcome = await call.catch((error: unknown) => {
          tell("failed");
          throw error;
        });
        tell(outcome);
        return outcome === "woken";
      },
    };
  }

  #follow(workload: string, call: Promise<unknown>): void {
    const { clock } = this.#options;
    const followed = call.then(
      () => {
        const now = clock.monotonic();
        this.#succeeded.delete(workload);
        this.#succeeded.set(workload, now);
        for (const [old, at] of this.#succeeded) {
          if (now - at <= REMEMBERED) break;
          this.#succeeded.delete(old);
        }
        return true;
      },
      () => false,
    );
    this.#calls.set(workload, followed);
    void followed.then(() => this.#calls.get(workload) === followed && this.#calls.delete(workload));
  }

  #resume({ namespace, needed }: WakeRequest, autoscaler: AutoscalerRef): RetriedTask {
    const { autoscalers } = this.#options;
    return {
      needed,
      attempt: async ({ deadline }) => {
        await autoscalers.resume(namespace, autoscaler, { deadline });
        return false;
      },
    };
  }
}

function workloadOf(namespace: string, { apiVersion, kind, name }: TargetRef): string {
  return `${apiVersion} ${kind} ${namespace}/${name}`;
}
