import { type Document, isScalar, type ScalarTag, visit } from "yaml";

/**
 * A number or flag whose text is not what JavaScript would print, such as `1.10`, `0644` or `True`. A field of text
 * takes it as it is written, and so does whoever reads the configuration after us; a field of numbers takes its value.
 */
export class WrittenScalar {
  readonly value: number | boolean;
  readonly source: string;

  constructor(value: number | boolean, source: string) {
    this.value = value;
    this.source = source;
  }

  toString(): string {
    return this.source;
  }
}

/** Keeps the texts of numbers and flags where they differ from their values. Keys of maps become their texts. */
export function keepWritten(document: Document.Parsed): void {
  visit(document, {
    Scalar(place, node) {
      const { value, source, type } = node;
      if (type !== "PLAIN" || source === undefined || !isValue(value) || String(value) === source) return;
      node.value = place === "key" ? source : new WrittenScalar(value, source);
    },
  });
}

function isValue(value: unknown): value is number | boolean {
  return typeof value === "number" || typeof value === "boolean";
}

/** Writes such a scalar as it was written. */
export const writtenTag: ScalarTag = {
  tag: "tag:yaml.org,2002:str",
  default: true,
  test: /(?!)/,
  identify: (value) => value instanceof WrittenScalar,
  resolve: (text) => text,
  stringify: (item) => (isScalar(item) ? String(item.value) : ""),
};

/** The value of such a scalar; anything else as it is. */
export function plainScalar(value: unknown): unknown {
  return value instanceof WrittenScalar ? value.value : value;
}

/** The same fields with the values of such scalars. */
export function plainFields(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(plainFields);
  if (typeof part !== "object" || part === null || part instanceof WrittenScalar) return plainScalar(part);
  // Other classes than that of plain objects, such as values that are in a Secret, stay.
  if (part.constructor.name !== "Object") return part;
  return Object.fromEntries(Object.entries(part).map(([name, each]) => [name, plainFields(each)]));
}
