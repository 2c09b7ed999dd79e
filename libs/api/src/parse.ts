import type { z } from "zod";

/**
 * A typed object, or why the input is none: one line a problem, each opening with the path of the field it is about.
 */
export type Parsed<Value> =
  { readonly ok: true; readonly value: Value } | { readonly ok: false; readonly errors: readonly string[] };

/** Lines beyond this are counted, not listed: they end up in conditions and logs, and the input is not ours. */
const MAX_LINES = 20;

/**
 * Reads an object as the API server hands it out. Absent fields get their defaults; unknown fields of spec and status
 * are dropped, as the API server prunes them.
 */
export function parse<Schema extends z.ZodType>(schema: Schema, input: unknown): Parsed<z.output<Schema>> {
  const result = schema.safeParse(input);
  if (result.success) return { ok: true, value: result.data };
  const issues = result.error.issues;
  const errors = issues.slice(0, MAX_LINES).map((issue) => `${fieldPath(issue.path)}: ${expectation(issue, input)}`);
  if (issues.length > MAX_LINES) errors.push(`and ${issues.length - MAX_LINES} more`);
  return { ok: false, errors };
}

function expectation(issue: z.core.$ZodIssue, input: unknown): string {
  const absent = issue.code === "invalid_type" && valueAt(input, issue.path) === undefined;
  return absent ? `Required: expected ${issue.expected}` : issue.message;
}

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, key) =>
      typeof value === "object" && value !== null ? (value as Record<PropertyKey, unknown>)[key] : undefined,
    input,
  );
}

/**
 * A path as Kubernetes prints it: `spec.triggers[0].type`. Keys that are no plain word are quoted, and long ones cut.
 */
function fieldPath(path: readonly PropertyKey[]): string {
  const text = path.map((key) => {
    if (typeof key === "number") return `[${key}]`;
    const name = String(key).slice(0, 100);
    return /^[A-Za-z_][\w-]*$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`;
  });
  return text.join("").replace(/^\./, "") || "(object)";
}
