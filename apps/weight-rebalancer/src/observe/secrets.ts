import type { ObjectName, Resource, Secret } from "@evenkeel/kube";
import { kubeErrors, nameKey } from "@evenkeel/kube";
import { type Clock, type CodedError, withDeadline } from "@evenkeel/runtime";
import {
  SecretElsewhere,
  SecretForbidden,
  SecretIncomplete,
  SecretKeyMissing,
  SecretNotFound,
  SecretNotText,
  SecretUnreadable,
} from "./errors.ts";
import { SecretCache, type SecretData } from "./secret-cache.ts";
import type { SecretKey, SecretReader } from "./secret-reader.ts";

export interface KubeSecretsOptions {
  /** Only `get` is called: the service needs no right to list or watch Secrets. */
  readonly resource: Pick<Resource<Secret>, "get">;
  readonly clock: Clock;
  /** Allow an object to use Secrets of other namespaces. */
  readonly allowCrossNamespace: boolean;
  /** Milliseconds until a Secret is read again; default: a minute. */
  readonly maxAge?: number;
}

const MAX_AGE = 60_000;
/** A Secret can have 1 MiB, so a limit on their number is not enough. */
const LIMITS = { count: 1000, characters: 16 * 2 ** 20 };
/** Milliseconds for one read. */
const DEADLINE = 10_000;

/**
 * Values of Secrets. A Secret is cached for a short time, so that many objects with one Secret cost one call. A failure
 * is not cached: a Secret that is created later is found at the next reconcile.
 *
 * One line break at the end of a value is removed, because `echo user | base64` leaves one and no credential ends with
 * one.
 */
export class KubeSecrets implements SecretReader {
  readonly #resource: Pick<Resource<Secret>, "get">;
  readonly #clock: Clock;
  readonly #allowCrossNamespace: boolean;
  readonly #maxAge: number;
  readonly #kept = new SecretCache(LIMITS);
  /** Reads in flight, shared by all callers of the same Secret. */
  readonly #reading = new Map<string, Promise<SecretData>>();

  constructor({ resource, clock, allowCrossNamespace, maxAge = MAX_AGE }: KubeSecretsOptions) {
    this.#resource = resource;
    this.#clock = clock;
    this.#allowCrossNamespace = allowCrossNamespace;
    this.#maxAge = maxAge;
  }

  async read(namespace: string, { name = "", key = "", ...place }: SecretKey, signal: AbortSignal): Promise<string> {
    signal.throwIfAborted();
    if (name === "") throw new SecretIncomplete({ namespace, field: "name" });
    if (key === "") throw new SecretIncomplete({ namespace, field: "key" });
    const object = { namespace: place.namespace || namespace, name };
    const secret = nameKey(object);
    if (object.namespace !== namespace && !this.#allowCrossNamespace) throw new SecretElsewhere({ secret, namespace });
    const data = await this.#data(object, signal).catch((error: unknown) => {
      signal.throwIfAborted();
      throw asSecretError(error, secret, key);
    });
    const value = Object.hasOwn(data, key) ? data[key] : undefined;
    if (value === undefined) throw new SecretKeyMissing({ secret, key });
    return withoutLineBreak(decode(value, secret, key));
  }

  /** A caller that aborts does not abort the read for other callers. */
  #data(object: ObjectName, signal: AbortSignal): Promise<SecretData> {
    const secret = nameKey(object);
    const kept = this.#kept.get(secret, this.#clock.monotonic() - this.#maxAge);
    if (kept !== undefined) return Promise.resolve(kept);
    let reading = this.#reading.get(secret);
    if (reading === undefined) {
      reading = this.#fetch(object).finally(() => this.#reading.delete(secret));
      this.#reading.set(secret, reading);
    }
    const shared = reading;
    const limit = { clock: this.#clock, milliseconds: DEADLINE, signal, what: `reading Secret ${secret}` };
    return withDeadline(limit, () => shared);
  }

  async #fetch(object: ObjectName): Promise<SecretData> {
    const secret = nameKey(object);
    const askedAt = this.#clock.monotonic();
    this.#kept.delete(secret);
    const { data = {} } = await this.#resource.get(object, { deadline: DEADLINE });
    this.#kept.set(secret, data, askedAt);
    return data;
  }
}

function asSecretError(error: unknown, secret: string, key: string): CodedError {
  if (error instanceof kubeErrors.NotFound) return new SecretNotFound({ secret, key });
  if (error instanceof kubeErrors.Forbidden) return new SecretForbidden({ secret, key }, { cause: error });
  return new SecretUnreadable({ secret, key }, { cause: error });
}

function decode(value: string, secret: string, key: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Buffer.from(value, "base64"));
  } catch {
    throw new SecretNotText({ secret, key });
  }
}

function withoutLineBreak(value: string): string {
  return value.replace(/\r?\n$/, "");
}
