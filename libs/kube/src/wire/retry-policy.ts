import { Readable } from "node:stream";
import { fullJitter } from "@evenkeel/runtime";
import { ConnectionLost, ResourceVersionTooLarge, TooManyRequests, Unreachable } from "../errors.ts";
import { Refusal } from "./refusal.ts";
import { isIdempotent, type KubeRequest } from "./request.ts";

const BACKOFF = { base: 200, cap: 10_000 };

/** Maximum requests per call. */
const ATTEMPTS = 8;

/**
 * Milliseconds to wait before a request is retried: what the server asks for plus a random part. Undefined if it must
 * not be retried:
 *
 *     not sent (no connection)             any call
 *     429 by priority and fairness         any call: the server has not started it
 *     broken after sending, 502, 503, 504  idempotent calls
 *     500 with Retry-After                 idempotent calls; without it, a retry does not help
 *     429 by a disruption budget, the rest never
 */
export function waitBeforeRetry(
  request: KubeRequest,
  error: unknown,
  attempt: number,
  random: () => number,
): number | undefined {
  if (attempt + 1 >= ATTEMPTS || request.body instanceof Readable) return undefined;
  const unharmed = error instanceof Unreachable || error instanceof TooManyRequests;
  if (!unharmed && !(isPassing(error) && isIdempotent(request))) return undefined;
  const asked = error instanceof Refusal ? (error.retryAfter ?? 0) : 0;
  return asked + fullJitter(BACKOFF, attempt, random);
}

function isPassing(error: unknown): boolean {
  if (error instanceof ConnectionLost) return true;
  if (!(error instanceof Refusal)) return false;
  // The server has waited for that version already; the caller must decide what to do without it.
  if (error.code === ResourceVersionTooLarge.entry.code) return false;
  return (error.status >= 502 && error.status <= 504) || (error.status >= 500 && error.retryAfter !== undefined);
}
