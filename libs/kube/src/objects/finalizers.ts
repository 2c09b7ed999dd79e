import { Conflict, Invalid, NotFound } from "../errors.ts";
import { getIfThere } from "./get-if-there.ts";
import type { KubeObject, ObjectName } from "./object.ts";
import type { CallOptions, JsonPatchOperation, Resource } from "./resource.ts";

/** Attempts in total, each from the present object. */
const TRIES = 5;

export function hasFinalizer({ metadata }: KubeObject, finalizer: string): boolean {
  return metadata.finalizers?.includes(finalizer) ?? false;
}

/**
 * Adds the finalizer if it is wanted and removes it if not. Resolves with false if the object is gone or being deleted:
 * then nothing may be done for it that the finalizer would have to undo.
 */
export async function keepFinalizer<T extends KubeObject>(
  resource: Resource<T>,
  object: T,
  finalizer: string,
  wanted: boolean,
  options: CallOptions = {},
): Promise<boolean> {
  const kept = await (wanted ? addFinalizer : removeFinalizer)(resource, object, finalizer, options);
  return kept !== undefined && kept.metadata.deletionTimestamp === undefined;
}

/**
 * Adds a finalizer, so that the object stays until `removeFinalizer`. Resolves with the object as it then is, or with
 * nothing if it is gone. One that is being deleted takes no new finalizers and comes back as it is.
 */
export function addFinalizer<T extends KubeObject>(
  resource: Resource<T>,
  object: T,
  finalizer: string,
  options: CallOptions = {},
): Promise<T | undefined> {
  return patchFromPresent(resource, object, options, (present) => {
    if (hasFinalizer(present, finalizer) || present.metadata.deletionTimestamp !== undefined) return undefined;
    const { finalizers = [], resourceVersion } = present.metadata;
    // An empty list may be absent, which a test cannot express, so the version is tested.
    return finalizers.length === 0
      ? [
          { op: "test", path: "/metadata/resourceVersion", value: resourceVersion },
          { op: "add", path: "/metadata/finalizers", value: [finalizer] },
        ]
      : [
          { op: "test", path: "/metadata/finalizers", value: finalizers },
          { op: "add", path: "/metadata/finalizers/-", value: finalizer },
        ];
  });
}

/** Removes a finalizer and nothing else. Resolves with the object as it then is, or with nothing if it is gone. */
export function removeFinalizer<T extends KubeObject>(
  resource: Resource<T>,
  object: T,
  finalizer: string,
  options: CallOptions = {},
): Promise<T | undefined> {
  return patchFromPresent(resource, object, options, (present) => {
    const path = `/metadata/finalizers/${present.metadata.finalizers?.indexOf(finalizer) ?? -1}`;
    if (!hasFinalizer(present, finalizer)) return undefined;
    return [
      { op: "test", path, value: finalizer },
      { op: "remove", path },
    ];
  });
}

/**
 * Patches with operations made from `object`; if their tests fail, with those made from the object as it is on the
 * server. No operations mean that there is nothing to do. The uid is tested too: an object of the same name and another
 * uid is not touched, and counts as gone.
 */
async function patchFromPresent<T extends KubeObject>(
  resource: Resource<T>,
  object: T,
  options: CallOptions,
  operationsFor: (present: T) => readonly JsonPatchOperation[] | undefined,
): Promise<T | undefined> {
  const { uid } = object.metadata;
  const name: ObjectName = { namespace: object.metadata.namespace, name: object.metadata.name ?? "" };
  let present = object;
  for (let attempt = 1; ; attempt++) {
    const operations = operationsFor(present);
    if (operations === undefined) return present;
    const sameObject: JsonPatchOperation = { op: "test", path: "/metadata/uid", value: uid };
    try {
      return await resource.patch(name, { type: "json", operations: [sameObject, ...operations] }, options);
    } catch (error) {
      if (error instanceof NotFound) return undefined;
      // The API server answers a failed test with 422.
      if (!(error instanceof Invalid || error instanceof Conflict) || attempt === TRIES) throw error;
    }
    const read = await getIfThere(resource, name, options);
    if (!read || read.metadata.uid !== uid) return undefined;
    present = read;
  }
}
