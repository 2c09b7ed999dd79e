import { createHash } from "node:crypto";
import { type Fields, fieldsOr, isFields, isList, listOr } from "../../json.ts";
import type { StoredObject } from "../../object.ts";
import { controlledBy, specOf } from "../object-state.ts";

/** What Kubernetes makes hashes in names of. */
const LETTERS = "bcdfghjklmnpqrstvwxz2456789";

/** The pod that a workload's template describes, named by `metadata` and owned by the workload. */
export function podFrom(owner: StoredObject, metadata: Fields, spec: Fields = {}): Fields {
  const template = fieldsOr(specOf(owner)["template"]);
  const { labels, annotations } = fieldsOr(template["metadata"]);
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      ...{ annotations: fieldsOr(annotations), ownerReferences: [controlledBy(owner)], ...metadata },
      labels: { ...fieldsOr(labels), ...fieldsOr(metadata["labels"]) },
    },
    spec: { ...fieldsOr(template["spec"]), ...spec },
  };
}

/** Ten letters that tell templates apart; the order of keys does not matter. */
export function templateHash(template: unknown): string {
  const digest = createHash("sha256")
    .update(JSON.stringify(ordered(template)))
    .digest();
  return [...digest.subarray(0, 10)].map((byte) => LETTERS[byte % LETTERS.length]).join("");
}

function ordered(value: unknown): unknown {
  if (isList(value)) return listOr(value).map(ordered);
  if (!isFields(value)) return value;
  const entries = Object.entries(value).filter(([, field]) => field !== undefined);
  return Object.fromEntries(
    entries.toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([k, v]) => [k, ordered(v)]),
  );
}
