import type { Decision, ObjectRef } from "@evenkeel/runtime";

/** The fields of a value that should be an object; empty if it is not. */
export function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : {};
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as unknown[]) : [];
}

export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** A number; JSON of protos has 64-bit integers as strings. */
export function numberOf(value: unknown): number | undefined {
  const number = typeof value === "number" ? value : Number(textOf(value) || NaN);
  return Number.isNaN(number) ? undefined : number;
}

/** A decision in the format of decisions.v1; undefined if it is not valid. */
export function decisionOf(value: unknown): Decision | undefined {
  const { id, at, object, action, reason, before = null, after = null, message, dryRun } = fieldsOf(value);
  const about = objectOf(object);
  if (textOf(id) === "" || about === undefined) return undefined;
  return {
    ...{ id: textOf(id), at: textOf(at), object: about, action: textOf(action), reason: textOf(reason) },
    ...{ before, after, message: textOf(message), dryRun: dryRun === true },
  };
}

function objectOf(value: unknown): ObjectRef | undefined {
  const { kind, namespace, name } = fieldsOf(value);
  if (textOf(kind) === "" || textOf(name) === "") return undefined;
  return { kind: textOf(kind), name: textOf(name), ...(textOf(namespace) && { namespace: textOf(namespace) }) };
}
