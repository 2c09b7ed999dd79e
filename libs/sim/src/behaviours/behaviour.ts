import type { Clock } from "@evenkeel/runtime";
import type { Objects } from "../objects/objects.ts";
import type { Store } from "../storage/store.ts";
import type { TypeRegistry } from "../types/type-registry.ts";

/** What a behaviour works with. */
export interface World {
  readonly store: Store;
  readonly types: TypeRegistry;
  readonly objects: Objects;
  readonly clock: Clock;
}

/** Something that a control plane does by itself. Started with the server; the returned function stops it. */
export type Behaviour = (world: World) => () => void;

/** Runs `task` once for each key that was added, after the call that added it is over. */
export class Later {
  readonly #clock: Clock;
  readonly #task: (key: string) => void;
  readonly #keys = new Set<string>();
  #cancel: (() => void) | undefined;

  constructor(clock: Clock, task: (key: string) => void) {
    this.#clock = clock;
    this.#task = task;
  }

  add(key: string): void {
    this.#keys.add(key);
    this.#cancel ??= this.#clock.schedule(0, () => this.#run());
  }

  stop(): void {
    this.#cancel?.();
    this.#keys.clear();
  }

  #run(): void {
    this.#cancel = undefined;
    const keys = [...this.#keys];
    this.#keys.clear();
    for (const key of keys) this.#task(key);
  }
}
