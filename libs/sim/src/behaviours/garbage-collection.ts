import { omit } from "../json.ts";
import type { OwnerReference, StoredObject } from "../object.ts";
import { FOREGROUND, ORPHAN } from "../objects/deletion.ts";
import type { Change } from "../storage/store.ts";
import type { ResourceType } from "../types/resource-type.ts";
import { type Behaviour, Later, type World } from "./behaviour.ts";

const options = { manager: "garbage-collector" };

/** Deletes what its owners have left, and lets owners go when what they wait for is gone. */
export const garbageCollection: Behaviour = (world) => {
  const collector = new Collector(world);
  const later = new Later(world.clock, (uid) => collector.attend(uid));
  const stop = world.store.listen((_, change) => {
    for (const uid of collector.note(change)) later.add(uid);
  });
  return () => {
    stop();
    later.stop();
  };
};

class Collector {
  readonly #world: World;
  /** By the owner's uid, the uids of what it owns. */
  readonly #owned = new Map<string, Set<string>>();

  constructor(world: World) {
    this.#world = world;
  }

  /** Learns of a change; the uids of the objects that must be looked at for it. */
  note({ type, object, previous }: Change): string[] {
    const { uid } = object.metadata;
    for (const owner of previous?.metadata.ownerReferences ?? []) this.#owned.get(owner.uid)?.delete(uid);
    const owners = object.metadata.ownerReferences ?? [];
    if (type === "DELETED") return [...owners.map((owner) => owner.uid), ...this.#ownedBy(uid)];
    for (const owner of owners) {
      const owned = this.#owned.get(owner.uid) ?? new Set();
      this.#owned.set(owner.uid, owned.add(uid));
    }
    const concerned = owners.length > 0 || object.metadata.deletionTimestamp !== undefined;
    return concerned ? [uid, ...owners.map((owner) => owner.uid)] : [];
  }

  attend(uid: string): void {
    const found = this.#find(uid);
    if (found === undefined) return;
    const { type, object } = found;
    const { deletionTimestamp, finalizers = [] } = object.metadata;
    if (deletionTimestamp === undefined) this.#dropIfLeft(type, object);
    else if (finalizers.includes(ORPHAN)) this.#orphan(type, object);
    else if (finalizers.includes(FOREGROUND)) this.#deleteOwned(type, object);
  }

  #find(uid: string): { type: ResourceType; object: StoredObject } | undefined {
    const found = this.#world.store.find(uid);
    const type = found === undefined ? undefined : this.#world.types.ofTable(found.table.name);
    return found === undefined || type === undefined ? undefined : { type, object: found.object };
  }

  #ownedBy(uid: string): string[] {
    return [...(this.#owned.get(uid) ?? [])];
  }

  /** An owner of a type that is not served may exist, so its dependents are kept. */
  #isThere({ uid, apiVersion, kind }: OwnerReference): boolean {
    return this.#world.store.find(uid) !== undefined || this.#world.types.ofKind(apiVersion, kind) === undefined;
  }

  #dropIfLeft(type: ResourceType, object: StoredObject): void {
    const owners = object.metadata.ownerReferences ?? [];
    const left = owners.filter((owner) => this.#isThere(owner));
    if (left.length === owners.length) return;
    if (left.length > 0) this.#setOwners(type, object, left);
    else this.#world.objects.delete(type, placeOf(object), { propagationPolicy: "Background" });
  }

  #orphan(type: ResourceType, object: StoredObject): void {
    const { uid } = object.metadata;
    for (const owned of this.#ownedBy(uid)) {
      const found = this.#find(owned);
      const others = (found?.object.metadata.ownerReferences ?? []).filter((owner) => owner.uid !== uid);
      if (found !== undefined) this.#setOwners(found.type, found.object, others);
    }
    this.#removeFinalizer(type, object, ORPHAN);
  }

  #deleteOwned(type: ResourceType, object: StoredObject): void {
    const { uid } = object.metadata;
    const waitedFor = this.#ownedBy(uid).filter((owned) => {
      const found = this.#find(owned);
      if (found === undefined) return false;
      const { metadata } = found.object;
      const propagationPolicy = this.#ownedBy(owned).length > 0 ? "Foreground" : "Background";
      const gone =
        metadata.deletionTimestamp === undefined &&
        this.#world.objects.delete(found.type, placeOf(found.object), { propagationPolicy }).gone;
      return !gone && metadata.ownerReferences?.some((owner) => owner.uid === uid && owner.blockOwnerDeletion === true);
    });
    if (waitedFor.length === 0) this.#removeFinalizer(type, object, FOREGROUND);
  }

  #setOwners(type: ResourceType, object: StoredObject, ownerReferences: readonly OwnerReference[]): void {
    const change = (old: StoredObject): unknown => ({ ...old, metadata: { ...old.metadata, ownerReferences } });
    this.#world.objects.update(type, placeOf(object), change, options);
  }

  #removeFinalizer(type: ResourceType, object: StoredObject, finalizer: string): void {
    const change = (old: StoredObject): unknown => {
      const finalizers = (old.metadata.finalizers ?? []).filter((one) => one !== finalizer);
      return { ...old, metadata: { ...omit({ ...old.metadata }, "finalizers"), finalizers } };
    };
    this.#world.objects.update(type, placeOf(object), change, options);
  }
}

function placeOf({ metadata: { namespace, name } }: StoredObject): { namespace: string | undefined; name: string } {
  return { namespace, name };
}
