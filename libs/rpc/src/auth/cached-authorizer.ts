import { createHash } from "node:crypto";
import type { Clock } from "@evenkeel/runtime";
import type { AccessObject, Authorization, Authorizer } from "./authorizer.ts";

export interface CacheOptions {
  readonly clock: Clock;
  /** How long a yes is remembered, in milliseconds: a right that is taken away lasts this much longer. */
  readonly allowedFor?: number;
  /** How long a no is remembered, in milliseconds: a right that is given takes this much to work. */
  readonly deniedFor?: number;
  /** How many answers are remembered; the oldest go first. */
  readonly capacity?: number;
}

interface Remembered {
  readonly authorization: Authorization;
  /** On the monotonic clock. */
  readonly until: number;
}

/**
 * Remembers the answers of another authorizer for a short while. Tokens are kept as hashes alone; failures are not
 * remembered.
 */
export class CachedAuthorizer implements Authorizer {
  readonly #authorizer: Authorizer;
  readonly #options: Required<CacheOptions>;
  readonly #answers = new Map<string, Remembered>();

  constructor(authorizer: Authorizer, { clock, allowedFor = 10_000, deniedFor = 2000, capacity = 1000 }: CacheOptions) {
    this.#authorizer = authorizer;
    this.#options = { clock, allowedFor, deniedFor, capacity };
  }

  async authorize(token: string, verb: string, object: AccessObject, signal: AbortSignal): Promise<Authorization> {
    const { clock, allowedFor, deniedFor, capacity } = this.#options;
    const { group, resource, subresource, namespace, name } = object;
    const key = createHash("sha256")
      .update(JSON.stringify([token, verb, group, resource, subresource, namespace, name]))
      .digest("base64");
    const remembered = this.#answers.get(key);
    if (remembered && clock.monotonic() < remembered.until) return remembered.authorization;

    const authorization = await this.#authorizer.authorize(token, verb, object, signal);
    const until = clock.monotonic() + (authorization.allowed ? allowedFor : deniedFor);
    this.#answers.delete(key);
    this.#answers.set(key, { authorization, until });
    const [oldest] = this.#answers.keys();
    if (this.#answers.size > capacity && oldest !== undefined) this.#answers.delete(oldest);
    return authorization;
  }
}
