import { equal, fieldsOr, omit } from "../json.ts";
import type { ManagedFields, StoredObject } from "../object.ts";
import type { Schema } from "../schema/schema.ts";
import { type FieldPath, fieldsIn, fromFieldsV1, toFieldsV1 } from "./field-path.ts";
import { difference, type FieldSet, isSame, union } from "./field-sets.ts";

/** Who writes, as managedFields names it. */
export interface Writer {
  readonly manager: string;
  readonly operation: "Apply" | "Update";
  readonly apiVersion: string;
  readonly subresource?: string | undefined;
  /** RFC 3339. */
  readonly time: string;
}

/** The part of an object that has owners: not its identity, nor what the server keeps of it. */
export function ownable(object: object): object {
  const { metadata, ...rest } = omit(object as Record<string, unknown>, "apiVersion", "kind");
  const { labels, annotations, finalizers, ownerReferences } = fieldsOr(metadata);
  const kept = omit({ labels, annotations, finalizers, ownerReferences });
  return Object.keys(kept).length === 0 ? rest : { ...rest, metadata: kept };
}

/** One manager and the fields that it owns. */
export interface Ownership {
  readonly entry: Omit<ManagedFields, "fieldsV1">;
  readonly fields: FieldSet;
}

export function readManagers(entries: readonly ManagedFields[] = []): Ownership[] {
  return entries.map(({ fieldsV1, ...entry }) => ({ entry, fields: fromFieldsV1(fieldsV1) }));
}

export function writeManagers(managers: readonly Ownership[]): ManagedFields[] {
  return managers
    .filter(({ fields }) => fields.size > 0)
    .map(({ entry, fields }) => ({ ...entry, fieldsV1: toFieldsV1(fields) }));
}

export function isWriter({ entry }: Ownership, writer: Writer): boolean {
  return (
    entry.manager === writer.manager &&
    entry.operation === writer.operation &&
    entry.apiVersion === writer.apiVersion &&
    entry.subresource === writer.subresource
  );
}

/** The managers with the fields of one of them set. Its time changes if its fields do. */
export function withOwnership(managers: readonly Ownership[], writer: Writer, fields: FieldSet): Ownership[] {
  const { manager, operation, apiVersion, subresource, time } = writer;
  const entry = {
    ...{ manager, operation, apiVersion, time, fieldsType: "FieldsV1" as const },
    ...(subresource === undefined ? {} : { subresource }),
  };
  const known = managers.find((one) => isWriter(one, writer));
  if (known === undefined) return [...managers, { entry, fields }];
  const same = isSame(known.fields, fields);
  return managers.map((one) => (one === known ? (same ? one : { entry, fields }) : one));
}

/**
 * The owners after a write that is no apply: the writer alone owns what it changed or added, and what it removed has no
 * owner.
 */
export function managersAfterUpdate(
  old: StoredObject | undefined,
  next: object,
  schema: Schema | undefined,
  writer: Writer,
): ManagedFields[] {
  const before = fieldsIn(old === undefined ? {} : ownable(old), schema);
  const after = fieldsIn(ownable(next), schema);
  const changed = new Set(
    [...after].filter(([path, value]) => !before.has(path) || !equal(before.get(path), value)).map(([path]) => path),
  );
  const gone = new Set([...before.keys()].filter((path) => !after.has(path)));
  const managers = readManagers(old?.metadata.managedFields);
  const own = managers.find((one) => isWriter(one, writer))?.fields ?? new Set<FieldPath>();
  const others = managers.map((one) =>
    isWriter(one, writer) ? one : { ...one, fields: difference(difference(one.fields, changed), gone) },
  );
  return writeManagers(withOwnership(others, writer, difference(union(own, changed), gone)));
}
