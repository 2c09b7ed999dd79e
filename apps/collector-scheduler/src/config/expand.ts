import { parseDocument } from "yaml";
import { isFields } from "./configuration-text.ts";
import { type PodEnvironment, SecretValue } from "./environment.ts";
import { type ConfigFault, fieldName } from "./fault.ts";
import { keepWritten, WrittenScalar } from "./written-scalar.ts";

/** `$$`, or `${…}` with what is between the braces. */
const REFERENCE = /\$\$|\$\{([^{}]*)\}/g;
/** A whole text that is one reference. */
const WHOLE = /^\$\{([^{}]*)\}$/;
/** `env:NAME`, `NAME`, and either with `:-` and a default. */
const VARIABLE = /^(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?$/s;

export interface Expansion {
  readonly value: unknown;
  readonly faults: readonly ConfigFault[];
}

/**
 * What a collector makes of a part of its configuration when it loads it: references to variables are replaced, then
 * `$$` is `$`. What this process serves is not expanded again by the collector. A reference that cannot be known here
 * is a fault.
 */
export function expand(value: unknown, environment: PodEnvironment): Expansion {
  const faults: ConfigFault[] = [];
  const fail = (path: readonly PropertyKey[], message: string) => faults.push({ field: fieldName(path), message });
  const expandText = (text: string, path: readonly PropertyKey[]): unknown => {
    const whole = WHOLE.exec(text)?.[1];
    if (whole !== undefined) {
      const found = lookUp(whole, environment);
      if (found instanceof SecretValue) return found;
      if (typeof found === "string") return scalarOf(found);
    }
    return text.replace(REFERENCE, (reference, inside: string | undefined) => {
      if (inside === undefined) return "$";
      const found = lookUp(inside, environment);
      if (typeof found === "string") return found;
      fail(path, found instanceof SecretValue ? inSecret(reference) : unknown(reference));
      return reference;
    });
  };
  const walk = (part: unknown, path: readonly PropertyKey[]): unknown => {
    if (typeof part === "string") return expandText(part, path);
    if (Array.isArray(part)) return part.map((each, index) => walk(each, [...path, index]));
    if (!isFields(part)) return part;
    return Object.fromEntries(Object.entries(part).map(([name, each]) => [name, walk(each, [...path, name])]));
  };
  return { value: walk(value, []), faults };
}

function lookUp(inside: string, environment: PodEnvironment): string | SecretValue | undefined {
  const [, name = "", otherwise] = VARIABLE.exec(inside) ?? [];
  return environment.get(name) ?? otherwise;
}

/** A text that is one reference has the type of its value, as YAML reads it. */
function scalarOf(text: string): unknown {
  try {
    const document = parseDocument(text);
    keepWritten(document);
    const value: unknown = document.errors.length > 0 ? text : document.toJS();
    return typeof value === "object" && !(value instanceof WrittenScalar) ? text : value;
  } catch {
    return text;
  }
}

function unknown(reference: string): string {
  return `${reference} is unknown here: set it with a value in podTemplate, in env of the container aoc2, or write the value out`;
}

function inSecret(reference: string): string {
  return `${reference} is in a Secret and only part of the text: use it alone, and only for a password, token or key`;
}
