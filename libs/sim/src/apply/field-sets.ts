import type { FieldPath } from "./field-path.ts";

export type FieldSet = ReadonlySet<FieldPath>;

export function union(one: FieldSet, other: FieldSet): FieldSet {
  return new Set([...one, ...other]);
}

export function difference(one: FieldSet, other: FieldSet): FieldSet {
  return new Set([...one].filter((path) => !other.has(path)));
}

export function intersection(one: FieldSet, other: FieldSet): FieldSet {
  return new Set([...one].filter((path) => other.has(path)));
}

export function isSame(one: FieldSet, other: FieldSet): boolean {
  return one.size === other.size && [...one].every((path) => other.has(path));
}
