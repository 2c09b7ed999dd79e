import { valueAt } from "../json.ts";
import { badRequest } from "../status.ts";

/** Whether an object is among those that a field selector chooses. */
export type FieldMatch = (object: object) => boolean;

/**
 * Reads the field selector of a query. Fails with BadRequest if it has no such form or names a field outside
 * `selectable`.
 */
export function parseFieldSelector(text: string, selectable: readonly string[]): FieldMatch {
  const matches = text
    .split(",")
    .filter((part) => part.trim() !== "")
    .map((part) => parseTerm(part.trim(), selectable));
  return (object) => matches.every((match) => match(object));
}

function parseTerm(term: string, selectable: readonly string[]): FieldMatch {
  const [, field = "", operator, value = ""] = /^([^=!]+)(==|=|!=)(.*)$/.exec(term) ?? [];
  if (operator === undefined) throw badRequest(`invalid selector: '${term}'; can't understand '${term}'`);
  if (!selectable.includes(field)) throw badRequest(`field label not supported: ${field}`);
  const path = field.split(".");
  return (object) => (shown(valueAt(object, path)) === value) === (operator !== "!=");
}

function shown(value: unknown): string {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? String(value) : "";
}
