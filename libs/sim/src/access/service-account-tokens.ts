import { createHash } from "node:crypto";
import type { Clock } from "@evenkeel/runtime";
import { type Fields, fieldsOr, listOr } from "../json.ts";
import { invalid, invalidValue, notFound } from "../status.ts";
import type { Store } from "../storage/store.ts";
import type { ResourceType } from "../types/resource-type.ts";
import { AUTHENTICATED, type Caller, CREDENTIAL_ID, type TokenSource } from "./users.ts";

/** Seconds that a token must be valid at least. */
const SHORTEST = 600;
const LONGEST = 2 ** 32;

const ACCOUNTS = "/serviceaccounts";

interface Issued {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly expires: number;
}

/** Tokens of service accounts (TokenRequest). A token is valid until it expires or its account is deleted. */
export class ServiceAccountTokens implements TokenSource {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #issued = new Map<string, Issued>();

  constructor(store: Store, clock: Clock, random: () => number) {
    this.#store = store;
    this.#clock = clock;
    this.#random = random;
  }

  /** Answers a TokenRequest for an account. */
  issue(accounts: ResourceType, place: { namespace?: string | undefined; name: string }, request: Fields): Fields {
    const { namespace = "", name } = place;
    const account = this.#store.table(ACCOUNTS).get(`${namespace}/${name}`);
    if (account === undefined) throw notFound(accounts, name);
    const { expirationSeconds: seconds = 3600, audiences, ...rest } = fieldsOr(request["spec"]);
    if (typeof seconds !== "number" || seconds < SHORTEST || seconds > LONGEST) {
      const why = "may not specify a duration less than 10 minutes";
      const kind = { group: "authentication.k8s.io", kind: "TokenRequest" };
      throw invalid(kind, "", [invalidValue("spec.expirationSeconds", seconds, why)]);
    }
    const { uid } = account.metadata;
    const now = Math.floor(this.#clock.now() / 1000);
    const given = listOr(audiences);
    const aud = given.length === 0 ? ["https://kubernetes.default.svc"] : given;
    const id = createHash("sha256").update(`${uid} ${this.#random()} ${this.#issued.size}`).digest("hex").slice(0, 32);
    const exp = now + seconds;
    const claims = {
      ...{ aud, exp, iat: now, nbf: now, iss: "https://kubernetes.default.svc", jti: id },
      "kubernetes.io": { namespace, serviceaccount: { name, uid } },
      sub: `system:serviceaccount:${namespace}:${name}`,
    };
    const token = [{ alg: "none" }, claims].map(encoded).join(".") + `.${id}`;
    const expires = exp * 1000;
    this.#issued.set(token, { namespace, name, uid, id, expires });
    return {
      ...{ kind: "TokenRequest", apiVersion: "authentication.k8s.io/v1" },
      metadata: { name, namespace, creationTimestamp: time(now * 1000) },
      spec: { ...rest, audiences: aud, expirationSeconds: seconds },
      status: { token, expirationTimestamp: time(expires) },
    };
  }

  find(token: string): Caller | undefined {
    const issued = this.#issued.get(token);
    if (issued === undefined || this.#clock.now() >= issued.expires) return undefined;
    const { namespace, name, uid, id } = issued;
    if (this.#store.table(ACCOUNTS).get(`${namespace}/${name}`)?.metadata.uid !== uid) return undefined;
    return {
      ...{ name: `system:serviceaccount:${namespace}:${name}`, uid },
      groups: [...serviceAccountGroups(namespace), AUTHENTICATED],
      extra: { [CREDENTIAL_ID]: [`JTI=${id}`] },
    };
  }
}

/** The groups of every service account of a namespace. */
export function serviceAccountGroups(namespace: string): readonly string[] {
  return ["system:serviceaccounts", `system:serviceaccounts:${namespace}`];
}

const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");

const time = (milliseconds: number): string => new Date(milliseconds).toISOString().replace(/\.\d+Z$/, "Z");
