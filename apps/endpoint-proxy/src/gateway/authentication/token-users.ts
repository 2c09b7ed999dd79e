import { hash } from "node:crypto";
import type { Clock } from "@evenkeel/runtime";
import type { Identity } from "../identity.ts";

/** Milliseconds for which the answer about a token is used again. */
const REMEMBERED = 10_000;

/** Maximum number of remembered tokens. The oldest are forgotten first. */
const MOST = 10_000;

/** Maximum number of questions at once. Watches do not count as in flight, so that nothing else bounds them. */
const MOST_ASKED = 100;

export interface TokenUsersOptions {
  readonly clock: Clock;
  /** Asks the API server whose token it is; undefined if it is not valid. */
  readonly identify: (token: string) => Promise<Identity | undefined>;
}

interface Known {
  readonly identity: Promise<Identity | undefined>;
  /** What `identity` resolved with. */
  answer?: Identity | undefined;
  /** Monotonic milliseconds. */
  until: number;
}

/**
 * The users of bearer tokens. An answer is remembered by the token's hash for ten seconds, and never beyond the expiry
 * that the token states; a failure to ask is not remembered. Concurrent requests with one token share one question.
 */
export class TokenUsers {
  readonly #options: TokenUsersOptions;
  readonly #known = new Map<string, Known>();
  #asking = 0;

  constructor(options: TokenUsersOptions) {
    this.#options = options;
  }

  /** A user who is remembered is returned at once. Rejects if the API server gives no answer. */
  userOf(token: string): Identity | Promise<Identity | undefined> {
    const { clock } = this.#options;
    const key = hash("sha256", token, "base64");
    const known = this.#known.get(key);
    if (known && clock.monotonic() < known.until) return known.answer ?? known.identity;
    const left = timeLeft(token, clock.now());
    return left <= 0 ? Promise.resolve(undefined) : this.#ask(token, key, Math.min(REMEMBERED, left));
  }

  async #ask(token: string, key: string, remembered: number): Promise<Identity | undefined> {
    const { clock, identify } = this.#options;
    if (this.#asking >= MOST_ASKED) throw new Error(`${MOST_ASKED} tokens are being reviewed already`);
    this.#asking += 1;
    const asked: Known = { identity: identify(token), until: clock.monotonic() + remembered };
    this.#known.delete(key);
    this.#known.set(key, asked);
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= MOST) break;
      this.#known.delete(oldest);
    }
    try {
      asked.answer = await asked.identity;
      return asked.answer;
    } catch (error) {
      if (this.#known.get(key) === asked) this.#known.delete(key);
      throw error;
    } finally {
      this.#asking -= 1;
    }
  }
}

/** Milliseconds until the expiry that a JSON Web Token states; Infinity for other tokens. */
function timeLeft(token: string, now: number): number {
  const [, payload] = /^[\w-]+\.([\w-]+)\.[\w-]*$/.exec(token) ?? [];
  if (payload === undefined) return Infinity;
  try {
    const { exp } = JSON.parse(Buffer.from(payload, "base64url").toString("utf8")) as { exp?: unknown };
    return typeof exp === "number" ? exp * 1000 - now : Infinity;
  } catch {
    return Infinity;
  }
}
