import { keyOf } from "../object.ts";
import type { Behaviour, World } from "./behaviour.ts";
import { ObjectIndex } from "./object-index.ts";
import { controllerOf } from "./object-state.ts";
import { Work } from "./work.ts";

export interface OwnerLoop {
  /** Names of the tables that the owners and what they own are in. */
  readonly owners: string;
  readonly owned: string;
  /** The owners' kind, as owner references name it. */
  readonly kind: string;
  /** Brings one owner, by its key, and what `owned` has under its uid in line; `work` takes it up again. */
  readonly sync: (world: World, owned: ObjectIndex, work: Work, key: string) => void;
}

/**
 * What is common to the controllers of owners: each is looked at when it changes, and when something changes that it
 * controls.
 */
export function ownerBehaviour({ owners, owned, kind, sync }: OwnerLoop): Behaviour {
  return (world) => {
    const index = new ObjectIndex((object) => [controllerOf(object)?.uid ?? ""]);
    const work = new Work(world.clock, (key) => sync(world, index, work, key));
    const stop = world.store.listen((table, change) => {
      const { type, object } = change;
      if (table.name === owners && type !== "DELETED") work.add(keyOf(object));
      if (table.name !== owned) return;
      index.note(change);
      const owner = controllerOf(object);
      if (owner?.kind === kind) work.add(`${object.metadata.namespace ?? ""}/${owner.name}`);
    });
    return () => {
      stop();
      work.stop();
    };
  };
}
