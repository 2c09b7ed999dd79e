import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { TLSSocket } from "node:tls";
import { ApiFault } from "../status.ts";

/** Someone whom the server knows by a bearer token. */
export interface User {
  readonly name: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
  readonly token: string;
}

/** Who asks. */
export interface Caller {
  readonly name: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** Whoever is in it may do everything. */
export const MASTERS = "system:masters";
export const AUTHENTICATED = "system:authenticated";
export const UNAUTHENTICATED = "system:unauthenticated";
export const CREDENTIAL_ID = "authentication.kubernetes.io/credential-id";

export const anonymous: Caller = { name: "system:anonymous", groups: [UNAUTHENTICATED] };

/** Where else a token may be known. */
export interface TokenSource {
  find(token: string): Caller | undefined;
}

/** The users that the server knows. */
export class Users {
  readonly #byToken = new Map<string, User>();
  readonly #issued: TokenSource;

  constructor(users: readonly User[], issued: TokenSource) {
    this.#issued = issued;
    for (const user of users) this.add(user);
  }

  add(user: User): void {
    this.#byToken.set(user.token, user);
  }

  /** The user with a token. */
  find(token: string): Caller | undefined {
    const user = this.#byToken.get(token);
    if (user === undefined) return this.#issued.find(token);
    const { name, uid, groups = [], extra } = user;
    return {
      ...{ name, groups: [...groups, AUTHENTICATED] },
      ...(uid === undefined ? {} : { uid }),
      ...(extra === undefined ? {} : { extra }),
    };
  }

  /**
   * The user that sent a request: by a client certificate (CN is the user, O are the groups), else by a bearer token.
   * Fails with Unauthorized if neither is valid and one was sent. Without either the user is anonymous.
   */
  authenticate(request: IncomingMessage): Caller {
    const { authorization } = request.headers;
    const certificate = clientCertificate(request);
    if (certificate?.valid === true) return certificate.caller;
    if (authorization === undefined && certificate === undefined) return anonymous;
    const [, token = ""] = /^Bearer\s+(\S+)$/i.exec(authorization ?? "") ?? [];
    const caller = this.find(token);
    if (caller === undefined) throw new ApiFault(401, "Unauthorized", "Unauthorized");
    return caller;
  }
}

function clientCertificate({
  socket,
}: IncomingMessage): { readonly valid: true; readonly caller: Caller } | { readonly valid: false } | undefined {
  if (!(socket instanceof TLSSocket)) return undefined;
  const { subject, raw } = socket.getPeerCertificate() as Partial<ReturnType<TLSSocket["getPeerCertificate"]>>;
  if (subject === undefined || raw === undefined) return undefined;
  const [name] = texts(subject.CN);
  if (!socket.authorized || name === undefined) return { valid: false };
  const id = `X509SHA256=${createHash("sha256").update(raw).digest("hex")}`;
  return {
    valid: true,
    caller: { name, groups: [...texts(subject.O), AUTHENTICATED], extra: { [CREDENTIAL_ID]: [id] } },
  };
}

/** A certificate may have several organisations, which are its groups. Node then gives a list. */
function texts(value: unknown): readonly string[] {
  return [value].flat().filter((each): each is string => typeof each === "string");
}
