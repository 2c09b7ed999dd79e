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

/** Names kept at most; a cluster with more different keys than that pays for new strings. */
const KEPT = 20_000;

/**
 * The names of meta labels that come from labels and annotations. Equal names are one string, since a large cluster has
 * millions of them.
 */
export class MetaNames {
  readonly #names = new Map<string, NamePair>();

  /** Of the label or annotation `key` of a kind of object, such as `pod`. */
  of(kind: string, field: "label" | "annotation", key: string): NamePair {
    const id = `${kind} ${field} ${key}`;
    const known = this.#names.get(id);
    if (known) return known;
    const prefix = `${META}${kind}_${field}`;
    const pair = { value: `${prefix}_${sanitized(key)}`, present: `${prefix}present_${sanitized(key)}` };
    if (this.#names.size >= KEPT) this.#names.clear();
    this.#names.set(id, pair);
    return pair;
  }

  /** Adds the labels and annotations of an object. */
  addMetadata(labels: LabelDraft, { metadata }: KubeObject, kind: string): void {
    for (const [key, text] of Object.entries(metadata.labels ?? {})) {
      const { value, present } = this.of(kind, "label", key);
      put(labels, value, text);
      labels.set(present, "true");
    }
    for (const [key, text] of Object.entries(metadata.annotations ?? {})) {
      const { value, present } = this.of(kind, "annotation", key);
      put(labels, value, text);
      labels.set(present, "true");
    }
  }

  /** Adds the name, labels and annotations of an object. */
  addObject(labels: LabelDraft, object: KubeObject, kind: string): void {
    put(labels, `${META}${kind}_name`, object.metadata.name);
    this.addMetadata(labels, object, kind);
  }
}
