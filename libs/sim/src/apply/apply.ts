import { equal } from "../json.ts";
import type { ManagedFields, StoredObject } from "../object.ts";
import type { Schema } from "../schema/schema.ts";
import { ApiFault } from "../status.ts";
import { type FieldPath, fieldsIn, mergeFields, showPath, withoutFields } from "./field-path.ts";
import { difference, type FieldSet, intersection } from "./field-sets.ts";
import {
  isWriter,
  type Ownership,
  ownable,
  readManagers,
  withOwnership,
  writeManagers,
  type Writer,
} from "./managers.ts";

export interface Applied {
  readonly object: object;
  readonly managedFields: readonly ManagedFields[];
}

/**
 * Server-side apply: lays what `config` states over `live`, takes away what the same manager stated before and now
 * leaves out, unless another owns it too, and records the owner of each field. A stated value that differs from the one
 * another manager owns is a conflict; with `force` the field changes hands.
 */
export function applyConfig(
  live: StoredObject | undefined,
  config: object,
  schema: Schema | undefined,
  writer: Writer,
  force: boolean,
): Applied {
  const stated = new Set(fieldsIn(ownable(config), schema).keys());
  const managers = readManagers(live?.metadata.managedFields);
  const own = managers.find((one) => isWriter(one, writer))?.fields ?? new Set<FieldPath>();
  const others = managers.filter((one) => !isWriter(one, writer));
  const differing = differences(live, config, schema);
  if (!force) refuseConflicts(others, differing);
  const kept = new Set(others.flatMap(({ fields }) => [...fields]));
  const gone = difference(difference(own, stated), kept);
  const merged = mergeFields(live ?? {}, config, schema);
  const left = managers.map((one) =>
    isWriter(one, writer) ? one : { ...one, fields: difference(one.fields, differing) },
  );
  return {
    object: (gone.size === 0 ? merged : withoutFields(merged, gone, schema)) as object,
    managedFields: writeManagers(withOwnership(left, writer, stated)),
  };
}

/** The fields with a stated value that differs from the live one. */
function differences(live: StoredObject | undefined, config: object, schema: Schema | undefined): FieldSet {
  if (live === undefined) return new Set();
  const present = fieldsIn(ownable(live), schema);
  const stated = [...fieldsIn(ownable(config), schema)];
  return new Set(stated.filter(([path, value]) => !equal(present.get(path), value)).map(([path]) => path));
}

function refuseConflicts(others: readonly Ownership[], differing: FieldSet): void {
  const causes = others.flatMap(({ entry, fields }) =>
    [...intersection(fields, differing)].map((path) => {
      const { manager, apiVersion, subresource, operation, time } = entry;
      const part = subresource === undefined ? "" : ` with subresource "${subresource}"`;
      const at = operation === "Update" && time !== undefined ? ` at ${time}` : "";
      const message = `conflict with "${manager}"${part} using ${apiVersion}${at}`;
      return { reason: "FieldManagerConflict", message, field: showPath(path) };
    }),
  );
  if (causes.length === 0) return;
  const count = `${causes.length} conflict${causes.length === 1 ? "" : "s"}`;
  const list = causes.map(({ message, field }) => `${message}: ${field}`).join("\n");
  throw new ApiFault(409, "Conflict", `Apply failed with ${count}: ${list}`, { causes });
}
