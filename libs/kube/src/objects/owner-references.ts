import { BadOwner } from "../errors.ts";
import type { KubeObject, OwnerReference } from "./object.ts";

export interface OwnerOptions {
  /** Whether the owner manages the object. An object has at most one such owner. Default true. */
  readonly controller?: boolean;
  /** Whether a foreground deletion of the owner waits until the object is gone. Default true. */
  readonly blockOwnerDeletion?: boolean;
}

/** A reference to an owner that exists on the API server. The API server deletes the object with its owner. */
export function ownerReference(owner: KubeObject, object: KubeObject, options: OwnerOptions = {}): OwnerReference {
  const { apiVersion, kind, metadata } = owner;
  const { name, uid, namespace } = metadata;
  const fail = (fault: string) =>
    new BadOwner({ owner: `${kind ?? "?"} ${name ?? "?"}`, object: object.metadata.name ?? "?", fault });
  if (!apiVersion || !kind) throw fail("it has no apiVersion and kind");
  if (!name || !uid) throw fail("it has no name and uid, so it is not on the API server");
  // The API server would consider the owner gone, and delete the object.
  if (namespace !== undefined && namespace !== object.metadata.namespace) throw fail("it is in another namespace");
  const { controller = true, blockOwnerDeletion = true } = options;
  return { apiVersion, kind, name, uid, controller, blockOwnerDeletion };
}

/** The object with the owner added, or replaced if it is there already. A second controller is refused. */
export function withOwner<T extends KubeObject>(object: T, owner: KubeObject, options: OwnerOptions = {}): T {
  const reference = ownerReference(owner, object, options);
  const others = (object.metadata.ownerReferences ?? []).filter(({ uid }) => uid !== reference.uid);
  const rival = reference.controller ? others.find(({ controller }) => controller) : undefined;
  if (rival) {
    throw new BadOwner({
      owner: `${reference.kind} ${reference.name}`,
      object: object.metadata.name ?? "?",
      fault: `${rival.kind} ${rival.name} controls it already`,
    });
  }
  return { ...object, metadata: { ...object.metadata, ownerReferences: [...others, reference] } };
}

/** The owner that manages the object. */
export function controllerOf({ metadata }: KubeObject): OwnerReference | undefined {
  return metadata.ownerReferences?.find(({ controller }) => controller);
}

/** By uid: another object of the same name is not the owner. */
export function isOwnedBy({ metadata }: KubeObject, owner: KubeObject): boolean {
  const { uid } = owner.metadata;
  return uid !== undefined && (metadata.ownerReferences?.some((reference) => reference.uid === uid) ?? false);
}
