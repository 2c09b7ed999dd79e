import type { KubeObject } from "@evenkeel/kube";

/** Labels while they are collected. */
export type LabelDraft = Map<string, string>;

export const META = "__meta_kubernetes_";
export const NAMESPACE = `${META}namespace`;
export const ADDRESS = "__address__";

/** Sets a label. One with an empty value is the same as none, so it is left out. */
export function put(labels: LabelDraft, name: string, value: string | undefined): void {
  if (value !== undefined && value !== "") labels.set(name, value);
}

/** Characters that a label name must not have become `_`. */
export function sanitized(name: string): string {
  return name.replace(/[^a-zA-Z0-9_]/gu, "_");
}

/** Host and port as an address, with brackets around an IPv6 address. */
export function hostPort(host: string, port: number): string {
  return host.includes(":") || host.includes("%") ? `[${host}]:${port}` : `${host}:${port}`;
}

interface NamePair {
  readonly value: string;
  readonly present: string;
}

/** Names kept at most of each kind and field; a cluster with more different keys than that pays for new strings. */
const KEPT = 10_000;

/**
 * The names of meta labels that come from labels and annotations. Equal names are one string, since a large cluster has
 * millions of them.
 */
export class MetaNames {
  readonly #tables = new Map<string, NameTable>();

  /** Adds the labels and annotations of an object of a kind such as `pod`. */
  addMetadata(labels: LabelDraft, { metadata }: KubeObject, kind: string): void {
    if (metadata.labels) this.#table(`${kind}_label`).add(labels, metadata.labels);
    if (metadata.annotations) this.#table(`${kind}_annotation`).add(labels, metadata.annotations);
  }

  /** Adds the name, labels and annotations of an object. */
  addObject(labels: LabelDraft, object: KubeObject, kind: string): void {
    put(labels, this.#table(`${kind}_label`).objectName, object.metadata.name);
    this.addMetadata(labels, object, kind);
  }

  #table(field: string): NameTable {
    const known = this.#tables.get(field) ?? new NameTable(field);
    this.#tables.set(field, known);
    return known;
  }
}

/** The names of the labels that come from one field of one kind of object, such as `pod_label`. */
class NameTable {
  /** Of the label with the object's name. */
  readonly objectName: string;
  readonly #prefix: string;
  readonly #names = new Map<string, NamePair>();

  constructor(field: string) {
    this.#prefix = META + field;
    this.objectName = `${META}${field.slice(0, field.lastIndexOf("_"))}_name`;
  }

  add(labels: LabelDraft, values: Readonly<Record<string, string>>): void {
    for (const key of Object.keys(values)) {
      const { value, present } = this.#names.get(key) ?? this.#learn(key);
      put(labels, value, values[key]);
      labels.set(present, "true");
    }
  }

  #learn(key: string): NamePair {
    const name = sanitized(key);
    const pair = { value: `${this.#prefix}_${name}`, present: `${this.#prefix}present_${name}` };
    if (this.#names.size >= KEPT) this.#names.clear();
    this.#names.set(key, pair);
    return pair;
  }
}
