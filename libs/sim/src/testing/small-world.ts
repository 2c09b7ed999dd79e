import { FakeClock } from "@evenkeel/runtime/testing";
import { type Fields, fieldsOr, textOr } from "../json.ts";
import { objectKey, type StoredObject } from "../object.ts";
import { Objects } from "../objects/objects.ts";
import { Store } from "../storage/store.ts";
import { TypeRegistry } from "../types/type-registry.ts";
import type { Behaviour, World } from "../behaviours/behaviour.ts";
import { typeOf } from "../behaviours/object-state.ts";

/** A world without a server, on a clock that tests drive and with names that are the same in every run. */
export class SmallWorld implements World {
  readonly clock = new FakeClock();
  readonly store = new Store({ history: 100 });
  readonly types = new TypeRegistry();
  readonly objects: Objects;
  readonly #stops: readonly (() => void)[];

  constructor(...behaviours: readonly Behaviour[]) {
    const random = seeded(7);
    this.objects = new Objects({ store: this.store, types: this.types, clock: this.clock, random });
    this.#stops = behaviours.map((behaviour) => behaviour(this));
    this.create("/namespaces", { metadata: { name: "default" } });
  }

  create(table: string, body: Fields): StoredObject {
    const type = typeOf(this.types, table);
    const namespace = type.namespaced ? textOr(fieldsOr(body["metadata"])["namespace"], "default") : undefined;
    return this.objects.create(type, namespace, body, { manager: "test" }).object;
  }

  /** Changes an object of the namespace `default`, or of none; `part` as the API has it. */
  update(table: string, name: string, change: (old: StoredObject) => Fields, part?: "status"): void {
    const type = typeOf(this.types, table);
    const place = { namespace: type.namespaced ? "default" : undefined, name };
    this.objects.update(type, place, (old) => ({ ...old, ...change(old) }), { manager: "test", part });
  }

  delete(table: string, name: string): void {
    const type = typeOf(this.types, table);
    this.objects.delete(type, { namespace: type.namespaced ? "default" : undefined, name });
  }

  get(table: string, name: string): StoredObject | undefined {
    const { namespaced } = typeOf(this.types, table);
    return this.store.table(table).get(objectKey(namespaced ? "default" : undefined, name));
  }

  list(table: string): readonly StoredObject[] {
    return this.store.table(table).objects();
  }

  /** Says of a pod that it runs, as a kubelet would; ready or not. */
  run(pod: string, ready = true): void {
    const lastTransitionTime = new Date(this.clock.now()).toISOString();
    const conditions = [{ type: "Ready", status: ready ? "True" : "False", lastTransitionTime }];
    this.update(
      "/pods",
      pod,
      ({ status }) => ({ status: { ...fieldsOr(status), phase: "Running", conditions } }),
      "status",
    );
  }

  stop(): void {
    for (const stop of this.#stops) stop();
  }
}

export function seeded(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
}
