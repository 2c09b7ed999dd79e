import type { Clock, Component, Logger } from "@evenkeel/runtime";
import { wakeWorkload, type Workload, type WorkloadClients } from "../act/wake-workload.ts";
import type { TargetRef } from "../binding.ts";
import { Retries } from "./retries.ts";

export interface WakeRequest {
  /** `namespace/service`. */
  readonly key: string;
  readonly workload: Workload;
  /** Whether a request still waits for it. Must not throw. */
  readonly needed: () => boolean;
}

/** What came of one call that scales. */
export type Scaled = "woken" | "awake" | "failed";

export interface WakerOptions extends WorkloadClients {
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly log: Logger;
  /** Must not throw. */
  readonly onScaled: (key: string, outcome: Scaled) => void;
}

/** How long it is known that a workload was woken, in milliseconds: longer than a reconcile takes. */
const REMEMBERED = 60_000;

/** Wakes workloads for requests that wait, on every replica: the second replica finds it done. */
export class Waker implements Component {
  readonly name = "waker";
  readonly #options: WakerOptions;
  readonly #retries: Retries;
  /** By workload, the call that is under way, and whether it succeeds. */
  readonly #calls = new Map<string, Promise<boolean>>();
  /** By workload, when the last call succeeded, by the monotonic clock; the oldest first. */
  readonly #succeeded = new Map<string, number>();

  constructor(options: WakerOptions) {
    const { clock, random, log } = options;
    this.#options = options;
    this.#retries = new Retries({ clock, random, log, undone: "could not wake the workload" });
  }

  /** For the path of requests: the call that scales is under way when this returns, unless it was already. Never throws. */
  wake({ key, workload, needed }: WakeRequest): void {
    const attempt = async ({ deadline }: { readonly deadline: number }) => {
      const { promise, resolve } = Promise.withResolvers<boolean>();
      this.#follow(idOf(workload.namespace, workload.target), promise);
      const onScaled = (outcome: Scaled) => {
        resolve(outcome !== "failed");
        this.#options.onScaled(key, outcome);
      };
      return (await wakeWorkload(this.#options, workload, { deadline, onScaled })) === "woken";
    };
    this.#retries.start(key, { needed, attempt });
  }

  /** A pod is ready: a request that waits from now on waits for another wake. */
  awake(key: string): void {
    this.#retries.fulfilled(key);
  }

  /**
   * Whether a call that scales this workload has succeeded since that time of the monotonic clock. A call that is under way is awaited, so that no second one is
   * needed.
   */
  async hasWoken(namespace: string, target: TargetRef, since: number): Promise<boolean> {
    const id = idOf(namespace, target);
    return (await this.#calls.get(id)) === true || (this.#succeeded.get(id) ?? -Infinity) >= since;
  }

  stop(): void {
    this.#retries.stop();
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
