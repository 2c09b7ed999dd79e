import { type Clock, explain, type Logger } from "@evenkeel/runtime";
import { BadResponse } from "../errors.ts";
import type { KubeClient } from "../wire/client.ts";
import { pathSegment } from "../wire/resource-path.ts";
import { isObject } from "../wire/status.ts";

/** The share of a token's life after which it is renewed. */
const RENEWED_AT = 0.8;

/** Milliseconds between two attempts to renew a token that is still valid. */
const RETRY = 5_000;

interface ServiceAccountTokenOptions {
  readonly kube: Pick<KubeClient, "request">;
  readonly account: { readonly namespace: string; readonly name: string };
  readonly clock: Clock;
  readonly log?: Logger | undefined;
  /** Seconds that a token is to be valid; at least 600. The server may shorten it. Default an hour. */
  readonly seconds?: number;
  /** Milliseconds after which a token is renewed, if that is before 80 % of its life. */
  readonly renewal?: number;
}

interface Issued {
  readonly token: string;
  /** Monotonic milliseconds. */
  readonly renewAt: number;
  readonly expiresAt: number;
}

/**
 * The token of another ServiceAccount (TokenRequest). It needs the right to `create` on `serviceaccounts/token` of that
 * name. A token that is due for renewal stays in use while the next one is requested, so that callers do not wait. If
 * that fails, it is retried every five seconds of use until the token expires. The life of a token is the server's
 * answer and counts from its arrival, so that the clocks of both need not agree.
 */
export class ServiceAccountToken {
  readonly #options: ServiceAccountTokenOptions;
  #issued: Issued | undefined;
  #requesting: Promise<Issued> | undefined;

  constructor(options: ServiceAccountTokenOptions) {
    this.#options = options;
  }

  /** A valid token, at once if there is one. Rejects if there is none and the server gives none. Never log it. */
  token(): string | Promise<string> {
    const { clock, log } = this.#options;
    const now = clock.monotonic();
    const issued = this.#issued;
    if (issued === undefined || now >= issued.expiresAt) return this.#request().then(({ token }) => token);
    if (now >= issued.renewAt && this.#requesting === undefined) {
      this.#request().catch((error: unknown) => {
        if (this.#issued === issued) this.#issued = { ...issued, renewAt: clock.monotonic() + RETRY };
        log?.warn(
          { error: explain(error) },
          "a service account's token could not be renewed; the last one stays in use",
        );
      });
    }
    return issued.token;
  }

  /** Forgets a token that a server refused. Another one that was issued meanwhile stays in use. */
  discard(token: string): void {
    if (this.#issued?.token === token) this.#issued = undefined;
  }

  #request(): Promise<Issued> {
    this.#requesting ??= this.#issue().finally(() => (this.#requesting = undefined));
    return this.#requesting;
  }

  async #issue(): Promise<Issued> {
    const { kube, account, clock, seconds = 3600, renewal = Infinity } = this.#options;
    const namespace = pathSegment("create", "serviceaccounts", "namespace", account.namespace);
    const name = pathSegment("create", "serviceaccounts", "name", account.name);
    const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`;
    const what = `serviceaccounts/token ${account.namespace}/${account.name}`;
    const asked = clock.monotonic();
    const answer = await kube.request({
      ...{ method: "POST", path, verb: "create", what, idempotent: true },
      body: { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: { expirationSeconds: seconds } },
    });
    const { spec, status } = isObject(answer) ? answer : {};
    const { expirationSeconds } = isObject(spec) ? spec : {};
    const { token } = isObject(status) ? status : {};
    if (typeof token !== "string" || token === "" || typeof expirationSeconds !== "number") {
      throw new BadResponse({ call: `create ${what}`, fault: "it has no token or no expirationSeconds" });
    }
    const life = expirationSeconds * 1000;
    this.#issued = { token, renewAt: asked + Math.min(life * RENEWED_AT, renewal), expiresAt: asked + life };
    return this.#issued;
  }
}
