import type { Fields } from "../json.ts";
import type { StoredObject } from "../object.ts";
import type { Schema } from "../schema/schema.ts";
import type { Cause } from "../status.ts";
import type { Store } from "../storage/store.ts";

/** A column of a table. */
export interface Column {
  readonly name: string;
  readonly type: string;
  readonly format?: string;
  readonly description?: string;
  /** 0 is always shown, higher ones in wide tables. */
  readonly priority?: number;
  /** Of custom types. */
  readonly jsonPath?: string;
  /** Of built-in types; `now` in milliseconds since the epoch. */
  readonly cell?: (object: StoredObject, now: number) => unknown;
}

/** Where a type keeps what its scale shows. */
export interface ScalePaths {
  readonly replicas: readonly string[];
  readonly statusReplicas: readonly string[];
  /** A text, or a label selector as specs carry it. */
  readonly selector: readonly string[] | undefined;
}

export type NameRule = "subdomain" | "label" | "service" | "segment";

/** A type that the server serves, and everything that sets it apart from others. */
export interface ResourceType {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly listKind: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly namespaced: boolean;
  readonly custom: boolean;
  /** The schema of whole objects, metadata included. */
  readonly schema: Schema;
  readonly nameRule: NameRule;
  /** Whether the status is a part of its own; `open` is one that a create may set. */
  readonly status: false | "apart" | "open";
  readonly scale: ScalePaths | undefined;
  /** Whether writes of more than metadata and status count metadata.generation up. */
  readonly generation: boolean;
  /** The paths that field selectors may name. */
  readonly selectable: readonly string[];
  readonly columns: readonly Column[];
  /** Reviews can only be created and are answered, not stored. */
  readonly review: boolean;
  /** What objects that are not stored look like at a moment, in milliseconds since the epoch. They can only be read. */
  readonly computed?: (store: Store, now: number) => readonly StoredObject[];
  /** Whether a delete answers with the object that went, and not with a Status. */
  readonly answersWithDeleted: boolean;
  /** Where objects are kept that another type has too, in other words. */
  readonly table?: string;
  /** An object of another version in this one's words; versions differ in their name alone otherwise. */
  readonly convert?: (object: StoredObject) => StoredObject;
  /** What a write means in the form that is stored. */
  readonly normalize?: (object: Fields) => Fields;
  /** What the server itself fills in when an object is created. */
  readonly prepare?: (object: Fields) => Fields;
  /** What a schema cannot say. */
  readonly check?: (object: Fields, old: Fields | undefined) => readonly Cause[];
}

/** Where the objects of a type are kept: all versions of it together. */
export function tableName({ group, plural, table }: Pick<ResourceType, "group" | "plural" | "table">): string {
  return table ?? `${group}/${plural}`;
}

/** A stored object in the words of one version of its type. */
export function asVersion(type: ResourceType, object: StoredObject): StoredObject {
  const apiVersion = apiVersionOf(type);
  if (object.apiVersion === apiVersion) return object;
  return type.convert?.(object) ?? { ...object, apiVersion };
}

export function apiVersionOf({ group, version }: Pick<ResourceType, "group" | "version">): string {
  return group === "" ? version : `${group}/${version}`;
}
