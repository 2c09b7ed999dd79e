import { type Fields, textOr } from "../json.ts";
import type { StoredObject } from "../object.ts";
import { type ApiFault, badRequest, conflict, invalid, invalidValue, outdated } from "../status.ts";
import type { ResourceType } from "../types/resource-type.ts";

export interface Preconditions {
  readonly uid?: string;
  readonly resourceVersion?: string;
}

/** Fails with Conflict unless what a delete expects of the object holds. */
export function checkPreconditions(type: ResourceType, { metadata }: StoredObject, expected: Preconditions): void {
  const { uid = metadata.uid, resourceVersion = metadata.resourceVersion } = expected;
  if (uid !== metadata.uid) throw unmet(type, metadata.name, "UID", uid, metadata.uid);
  if (resourceVersion !== metadata.resourceVersion) {
    throw unmet(type, metadata.name, "ResourceVersion", resourceVersion, metadata.resourceVersion);
  }
}

function unmet(type: ResourceType, name: string, what: string, expected: string, found: string): ApiFault {
  return conflict(
    type,
    name,
    `Precondition failed: ${what} in precondition: ${expected}, ${what} in object meta: ${found}`,
  );
}

/**
 * What the uid in the body of a write means: `precondition` for a PUT and an apply, `field` for a patch, which may not
 * change it, and `ignored` for a patch of the status.
 */
export type UidRole = "precondition" | "field" | "ignored";

/** Fails unless a write is of the object that is stored, and of the version that it is at. */
export function refuseOther(type: ResourceType, old: StoredObject, metadata: Fields, role: UidRole): void {
  const { name, namespace, uid } = old.metadata;
  const given = textOr(metadata["name"], name);
  if (given !== name)
    throw badRequest(`the name of the object (${given}) does not match the name on the URL (${name})`);
  if (textOr(metadata["namespace"], namespace) !== (namespace ?? "")) {
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
  }
  const wanted = textOr(metadata["uid"]);
  if (wanted !== "" && wanted !== uid && role !== "ignored") {
    if (role === "precondition") throw unmet(type, name, "UID", wanted, uid);
    throw invalid(type, name, [invalidValue("metadata.uid", wanted, "field is immutable")]);
  }
  refuseOutdated(type, old, metadata);
}

/** Fails with Conflict if the version that a writer has seen is no longer the object's. */
export function refuseOutdated(
  type: ResourceType,
  { metadata: { name, resourceVersion } }: StoredObject,
  metadata: Fields,
): void {
  const given = textOr(metadata["resourceVersion"]);
  if (given !== "" && given !== resourceVersion) throw outdated(type, name);
}
