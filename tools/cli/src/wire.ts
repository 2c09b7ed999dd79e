import type { Decision, ObjectRef } from "@evenkeel/runtime";

/** The fields of what should be an object; none if it is not. */
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

/** A number; protos write whole ones of 64 bits as texts. */
export function numberOf(value: unknown): number | undefined {
  const number = typeof value === "number" ? value : Number(textOf(value) || NaN);
  return Number.isNaN(number) ? undefined : number;
}

/** A decision as decisions.v1 writes it; nothing if it is none. */
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
