import { rpcErrors } from "@evenkeel/rpc";
import type { Clock, Component } from "@evenkeel/runtime";
import { serviceKey } from "../binding.ts";

/** A pod that somebody is about to take away. */
export interface Preparation {
  readonly uid: string;
  /** The caller's name for it. */
  readonly eviction: string;
  /** Keys of the Services whose last ready pod it is, so that their requests must be held; none if others serve. */
  readonly services: readonly string[];
}

export interface PreparationsOptions {
  readonly clock: Clock;
  /** Hears of each Service that a preparation began or ended for. */
  readonly changed: (key: string) => void;
  /** How many there may be at once. */
  readonly most?: number;
}

interface Kept extends Preparation {
  readonly cancel: () => void;
}

const MOST = 1000;

/** Which pods are about to be taken away. Each ends when it is released, or by itself after its time. */
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

  /** Another process leads now, and keeps its own. */
  forgetAll(): void {
    for (const { cancel } of this.#kept.values()) cancel();
    this.#kept.clear();
  }

  /** Whether the last ready pod of a Service is about to be taken away. */
  isPrepared(namespace: string, service: string): boolean {
    const key = serviceKey(namespace, service);
    return [...this.#kept.values()].some(({ services }) => services.includes(key));
  }

  /** Whether a pod is about to be taken away, whoever said so. */
  isLeaving(uid: string): boolean {
    return [...this.#kept.values()].some((kept) => kept.uid === uid);
  }

  find(uid: string, eviction: string): Preparation | undefined {
    return this.#kept.get(keyOf({ uid, eviction }));
  }

  /** Begins a preparation, or goes on with it from now; it ends by itself after `hold` milliseconds. */
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
