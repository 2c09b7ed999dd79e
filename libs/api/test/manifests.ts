/** Manifests to try a schema with, here and on a real API server. */
import { readdirSync, readFileSync } from "node:fs";
import { parseAllDocuments } from "yaml";
import { kinds } from "../src/index.ts";
import { BAD_FIELDS, type BadField } from "./bad-fields.ts";
import { OUTGROWN_FIELDS } from "./outgrown-fields.ts";

export { OUTGROWN, type Outgrown } from "./outgrown-fields.ts";

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
  /**
   * Whether it is the status that is wrong: the API server looks at that only in a request to the status subresource.
   */
  readonly subresource?: "status";
}

const FIXTURES = new URL("./fixtures/", import.meta.url);

/** The example in the README of weight-rebalancer's original, as YAML. */
export const readmeExample: string = readFileSync(new URL("rebalance-readme.yaml", FIXTURES), "utf8");

/**
 * Manifests that must be taken. Each kind's `minimal` one has no optional field; its `full` one has every field, but
 * for those that exclude each other: the kind's others have them.
 */
export const goodManifests: readonly Manifest[] = kinds.flatMap(({ kind }) => {
  const name = kind.toLowerCase();
  const files = readdirSync(FIXTURES).filter((file) => file === `${name}.yaml` || file.startsWith(`${name}-`));
  return files
    .flatMap((file) => parseAllDocuments(readFileSync(new URL(file, FIXTURES), "utf8")))
    .map((document) => document.toJS() as Manifest);
});

/** Manifests that an original's CRD takes and ours does not; each is among the bad ones too. */
export const outgrownManifests: readonly BadManifest[] = OUTGROWN_FIELDS.map(badManifest);

/** Each is the kind's full manifest with one field made wrong. */
export const badManifests: readonly BadManifest[] = [...BAD_FIELDS.map(badManifest), ...outgrownManifests];

function badManifest([kind, path, value, title, blamed]: BadField): BadManifest {
  const full = goodManifests.find((manifest) => manifest.kind === kind && manifest.metadata.name === "full");
  if (full === undefined) throw new Error(`no full manifest of ${kind}`);
  const manifest = structuredClone(full);
  setField(manifest, path, value);
  const field = blamed ?? path;
  return { kind, title, field, manifest, ...(path.startsWith("status") ? { subresource: "status" } : {}) };
}

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
