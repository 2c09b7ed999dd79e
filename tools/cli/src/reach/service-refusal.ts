import type { CodedError } from "@evenkeel/runtime";
import { Refused, Unanswered } from "../errors.ts";
import { fieldsOf, textOf } from "../wire.ts";

/**
 * The error for an unsuccessful response. Services respond with `{ code, message }`. A proxy that cannot reach the
 * service may respond with anything.
 */
export function serviceRefusal(place: string, status: number, body: string): CodedError {
  const { code, message } = fieldsOf(parsed(body));
  if (textOf(code) === "" && status >= 502 && status <= 504) {
    return new Unanswered({ place, fault: body.trim().replaceAll(/\s+/g, " ").slice(0, 200) || `HTTP ${status}` });
  }
  const told = textOf(message) || body.trim().slice(0, 200) || "no reason given";
  return new Refused({ place, message: told.replaceAll(/\s+/g, " "), code: textOf(code) || `HTTP ${status}` }, status);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
