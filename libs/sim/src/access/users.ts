import type { IncomingHttpHeaders } from "node:http";
import { ApiFault, notSimulated } from "../status.ts";

/** Someone whom the server knows by a bearer token. */
export interface User {
  readonly name: string;
  readonly groups?: readonly string[];
  readonly token: string;
}

/** Who asks. */
export interface Caller {
  readonly name: string;
  readonly groups: readonly string[];
}

/** Whoever is in it may do everything. */
export const MASTERS = "system:masters";

const anonymous: Caller = { name: "system:anonymous", groups: ["system:unauthenticated"] };

/** The users that the server knows. */
export class Users {
  readonly #byToken = new Map<string, User>();

  constructor(users: readonly User[]) {
    for (const user of users) this.add(user);
  }

  add(user: User): void {
    this.#byToken.set(user.token, user);
  }

  /** The user with a token. */
  find(token: string): Caller | undefined {
    const user = this.#byToken.get(token);
    if (user === undefined) return undefined;
    return { name: user.name, groups: [...(user.groups ?? []), "system:authenticated"] };
  }

  /** The user that sent a request. Fails with Unauthorized for an unknown token; without a token the user is anonymous. */
  authenticate({ authorization, ...headers }: IncomingHttpHeaders): Caller {
    if (headers["impersonate-user"] !== undefined) throw notSimulated("impersonation");
    if (authorization === undefined) return anonymous;
    const [, token = ""] = /^Bearer\s+(\S+)$/i.exec(authorization) ?? [];
    const caller = this.find(token);
    if (caller === undefined) throw new ApiFault(401, "Unauthorized", "Unauthorized");
    return caller;
  }
}
