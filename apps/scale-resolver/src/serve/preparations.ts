import { rpcErrors } from "@evenkeel/rpc";
import type { Clock, Component } from "@evenkeel/runtime";
import { serviceKey } from "../binding.ts";

/** A pod that is about to be evicted. */
export interface Preparation {
  readonly uid: string;
  /** The caller's name of the eviction. */
  readonly eviction: string;
  /**
   * Keys of the Services for which it is the last ready pod, so that requests must be held; empty if other pods serve.
   */
  readonly services: readonly string[];
}

export interface PreparationsOptions {
  readonly clock: Clock;
  /** Called for each Service with a preparation that began or ended. */
  readonly changed: (key: string) => void;
  /** Maximum number of preparations. */
  readonly most?: number;
}

interface Kept extends Preparation {
  readonly cancel: () => void;
}

const MOST = 1000;

/** The pods that are about to be evicted. A preparation ends when it is released, or after its hold time. */
export class Preparations implements Component {
  readonly name = "preparations";
  readonly #options: Required<PreparationsOptions>;
  readonly #kept = new Map<string, Kept>();

  constructor({ most = MOST, ...options }: PreparationsOptions) {
    this.#options = { ...options, most };
  }

  get size(): number {
    return this.#kept.size;
  }

  stop(): void {
    this.forgetAll();
  }

  /** For the end of a term: the next leader has its own preparations. */
  forgetAll(): void {
    for (const { cancel } of this.#kept.values()) cancel();
    this.#kept.clear();
  }

  /** Whether the last ready pod of a Service is about to be evicted. */
  isPrepared(namespace: string, service: string): boolean {
    const key = serviceKey(namespace, service);
    return [...this.#kept.values()].some(({ services }) => services.includes(key));
  }

  /** Whether a pod is about to be evicted, for any caller. */
  isPodPrepared(uid: string): boolean {
    return [...this.#kept.values()].some((kept) => kept.uid === uid);
  }

  find(uid: string, eviction: string): Preparation | undefined {
    return this.#kept.get(keyOf({ uid, eviction }));
  }

  /** Starts or renews a preparation, which ends after `hold` milliseconds. */
  keep(preparation: Preparation, hold: number): void {
    const { clock, most } = this.#options;
    const key = keyOf(preparation);
    const before = this.#kept.get(key);
    if (!before && this.#kept.size >= most) throw new rpcErrors.TooBusy({ limit: most, what: "preparations" });
    before?.cancel();
    const cancel = clock.schedule(hold, () => this.release(preparation.uid, preparation.eviction));
    this.#kept.set(key, { ...preparation, cancel });
    this.#tell(differences(before?.services ?? [], preparation.services));
  }

  release(uid: string, eviction: string): void {
    const key = keyOf({ uid, eviction });
    const kept = this.#kept.get(key);
    if (!kept) return;
    kept.cancel();
    this.#kept.delete(key);
    this.#tell(kept.services);
  }

  #tell(services: readonly string[]): void {
    for (const service of services) this.#options.changed(service);
  }
}

function keyOf({ uid, eviction }: Pick<Preparation, "uid" | "eviction">): string {
  return JSON.stringify([uid, eviction]);
}

function differences(before: readonly string[], after: readonly string[]): readonly string[] {
  return [...before.filter((key) => !after.includes(key)), ...after.filter((key) => !before.includes(key))];
}
