import type { Exchange } from "@evenkeel/forward";
import { type AccessReviewer, impersonatedObjects, type ReviewedObject } from "@evenkeel/kube";
import { type Clock, type Logger, toError } from "@evenkeel/runtime";
import {
  BadImpersonation,
  CertificateRefused,
  ImpersonationForbidden,
  NoCredential,
  ReviewFailed,
  TokenRefused,
} from "../errors.ts";
import type { Identity } from "../identity.ts";
import { RequestRefused } from "../request-refused.ts";
import { completeIdentity } from "./acted-for.ts";
import type { Authorities } from "./authorities.ts";
import { identityOfCertificate } from "./certificate-identity.ts";
import { IMPERSONATION, readIdentity, type ReadIdentity } from "./identity-headers.ts";
import type { TokenUsers } from "./token-users.ts";
import { tokenOf } from "./bearer-token.ts";

/** Milliseconds that the API server has to answer a review. */
const REVIEW_DEADLINE = 10_000;

/** For whom a request is made. */
export interface Caller {
  readonly identity: Identity;
  /** The user that authenticated, if it acts for another one. */
  readonly actor?: string;
  /** The peer through which the request came. */
  readonly peer?: string;
}

export interface UserAuthenticatorOptions {
  readonly clock: Clock;
  readonly log: Logger;
  readonly authorities: Authorities;
  readonly tokens: TokenUsers;
  readonly reviewer: Pick<AccessReviewer, "allows">;
}

/** Says which user of the own cluster a request comes from: by client certificate first, then by bearer token. */
export class UserAuthenticator {
  readonly #options: UserAuthenticatorOptions;
  readonly #byCertificate = new WeakMap<object, Identity>();

  constructor(options: UserAuthenticatorOptions) {
    this.#options = options;
  }

  /** A user who is known already is returned at once. Throws or rejects with `RequestRefused`. */
  authenticate(exchange: Exchange): Caller | Promise<Caller> {
    const user = this.#certified(exchange) ?? this.#bearer(exchange);
    const wanted = readIdentity(IMPERSONATION, exchange.headers);
    return wanted === "none" && !(user instanceof Promise) ? { identity: user } : this.#acting(user, wanted);
  }

  async #acting(authenticated: Identity | Promise<Identity>, wanted: ReadIdentity): Promise<Caller> {
    const user = await authenticated;
    if (wanted === "none") return { identity: user };
    if ("fault" in wanted) throw new RequestRefused(400, new BadImpersonation({ fault: wanted.fault }));
    await this.#checkImpersonation(user, wanted);
    return { identity: completeIdentity(wanted), actor: user.user };
  }

  /** Undefined if there is no valid certificate and the request has a token. */
  #certified(exchange: Exchange): Identity | undefined {
    const { client } = exchange;
    if (client === undefined) return undefined;
    const { authorities, clock } = this.#options;
    const fault = authorities.faultOf(client, clock.now());
    if (fault === undefined) {
      const known = this.#byCertificate.get(client.certificate);
      if (known) return known;
      const identity = identityOfCertificate(client.certificate);
      if (identity) {
        this.#byCertificate.set(client.certificate, identity);
        return identity;
      }
    }
    if (tokenOf(exchange) !== undefined) return undefined;
    throw new RequestRefused(401, new CertificateRefused({ fault: fault ?? "it has no common name" }));
  }

  #bearer(exchange: Exchange): Identity | Promise<Identity> {
    const token = tokenOf(exchange);
    if (token === undefined) throw new RequestRefused(401, new NoCredential({}));
    const user = this.#options.tokens.userOf(token);
    return user instanceof Promise ? this.#answered(user) : user;
  }

  async #answered(asked: Promise<Identity | undefined>): Promise<Identity> {
    const identity = await this.#reviewed(() => asked);
    if (identity === undefined) throw new RequestRefused(401, new TokenRefused({}));
    return identity;
  }

  /** The own cluster decides, with one check for each value, as kube-apiserver does. */
  async #checkImpersonation(user: Identity, wanted: Identity): Promise<void> {
    const { reviewer } = this.#options;
    for (const object of impersonatedObjects(wanted)) {
      const signal = AbortSignal.timeout(REVIEW_DEADLINE);
      const { allowed } = await this.#reviewed(() => reviewer.allows(user, "impersonate", object, signal));
      if (!allowed) throw forbidden(user, object);
    }
  }

  /** Nobody is let in, and nothing is allowed, if the API server does not answer. */
  async #reviewed<T>(ask: () => Promise<T>): Promise<T> {
    try {
      return await ask();
    } catch (cause) {
      this.#options.log.warn({ error: toError(cause) }, "the API server could not be asked for a user or its rights");
      throw new RequestRefused(503, new ReviewFailed({}, { cause }), { retryAfterSeconds: 1 });
    }
  }
}

function forbidden(user: Identity, object: ReviewedObject): RequestRefused {
  const { group, resource, subresource, namespace, name = "" } = object;
  const plural = group === "" ? resource : `${resource}.${group}`;
  const error = new ImpersonationForbidden({
    object: `${plural} ${JSON.stringify(name)}`,
    user: JSON.stringify(user.user),
    resource: JSON.stringify(subresource === undefined ? resource : `${resource}/${subresource}`),
    group: JSON.stringify(group),
    scope: namespace === undefined ? "at the cluster scope" : `in the namespace ${JSON.stringify(namespace)}`,
  });
  return new RequestRefused(403, error, { name, ...(group !== "" && { group }), kind: resource });
}
