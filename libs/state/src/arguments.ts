import { explain } from "@evenkeel/runtime";
import { BadArgument, TooLarge } from "./errors.ts";
import type { Counts, Fence } from "./state.ts";

/** The most bytes of one record, entry, edge or report. */
const VALUE_LIMIT = 1024 * 1024;

/** The longest time to live, in milliseconds: a day. */
const TTL_LIMIT = 86_400_000;

const NAME = /^[A-Za-z0-9._:/@-]{1,253}$/;

export function checkName(what: string, name: string): string {
  if (NAME.test(name)) return name;
  throw new BadArgument({ what: `${JSON.stringify(name.slice(0, 80))} cannot name a ${what}` });
}

export function checkText(what: string, text: string): string {
  const bytes = Buffer.byteLength(text);
  if (bytes > VALUE_LIMIT) throw new TooLarge({ what, bytes, limit: VALUE_LIMIT });
  return text;
}

/** The value as JSON text. */
export function toJson(what: string, value: unknown): string {
  let text: unknown;
  try {
    text = JSON.stringify(value);
  } catch (error) {
    throw new BadArgument({ what: `${what} is not JSON: ${explain(error)}` }, { cause: error });
  }
  if (typeof text !== "string") throw new BadArgument({ what: `${what} is not JSON: it is ${typeof value}` });
  return checkText(what, text);
}

export function checkCounts(counts: Counts): string {
  for (const [name, count] of Object.entries(counts)) {
    if (!Number.isFinite(count))
      throw new BadArgument({ what: `count ${name} is ${count}; unknown counts are left out` });
  }
  return toJson("a report", counts);
}

export function checkTtl(ttl: number): number {
  if (Number.isInteger(ttl) && ttl > 0 && ttl <= TTL_LIMIT) return ttl;
  throw new BadArgument({ what: `${ttl} ms is not a time to live: whole, positive, at most a day` });
}

export function checkLimit(limit: number): number {
  if (Number.isInteger(limit) && limit > 0 && limit <= 1_000_000) return limit;
  throw new BadArgument({ what: `${limit} is not a limit: whole, positive, at most a million` });
}

export function checkFence({ scope, token }: Fence): Fence {
  checkName("scope", scope);
  if (token < 0n) throw new BadArgument({ what: `fencing token ${token.toString()} is negative` });
  return { scope, token };
}
