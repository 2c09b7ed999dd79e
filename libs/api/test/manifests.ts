/** Manifests to try a schema with, here and on a real API server. */
import { readFileSync } from "node:fs";
import { parseAllDocuments } from "yaml";
import { kinds } from "../src/index.ts";
import { BAD_FIELDS } from "./bad-fields.ts";

export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly [field: string]: unknown;
}

/** A manifest that must be refused, by a message that names `field`. */
export interface BadManifest {
  readonly kind: string;
  readonly title: string;
  readonly field: string;
  readonly manifest: Manifest;
  /** Whether it is the status that is wrong: the API server looks at that only in a request to the status subresource. */
  readonly subresource?: "status";
}

/** Manifests that must be taken, each kind's `full` one with every field and its `minimal` one with no optional field. */
export const goodManifests: readonly Manifest[] = kinds.flatMap(({ kind }) => {
  const file = new URL(`./fixtures/${kind.toLowerCase()}.yaml`, import.meta.url);
  return parseAllDocuments(readFileSync(file, "utf8")).map((document) => document.toJS() as Manifest);
});

/** Each is the kind's full manifest with one field made wrong. */
export const badManifests: readonly BadManifest[] = BAD_FIELDS.map(([kind, path, value, title, blamed]) => {
  const full = goodManifests.find((manifest) => manifest.kind === kind && manifest.metadata.name === "full");
  if (full === undefined) throw new Error(`no full manifest of ${kind}`);
  const manifest = structuredClone(full);
  setField(manifest, path, value);
  const field = blamed ?? path;
  return { kind, title, field, manifest, ...(path.startsWith("status") ? { subresource: "status" } : {}) };
});

/** Sets a field by its path, such as `spec.triggers[0].type`; undefined removes it. */
export function setField(manifest: object, path: string, value: unknown): void {
  const keys = path.replaceAll("[", ".").replaceAll("]", "").split(".");
  const last = keys.pop() ?? "";
  const parent = keys.reduce<Record<string, unknown>>(
    (object, key) => object[key] as Record<string, unknown>,
    manifest as Record<string, unknown>,
  );
  if (value === undefined) Reflect.deleteProperty(parent, last);
  else parent[last] = value;
}
