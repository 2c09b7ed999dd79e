import type { Member } from "../members/member.ts";
import { type ApiPath, pathOf } from "../writes/api-path.ts";
import { KubeFault } from "../writes/kube-status.ts";
import { type ContinueToken, decodeToken } from "./continue-token.ts";

/** Which members a page asks, and for what. */
export interface Page {
  readonly members: readonly Member[];
  /** Clusters that the pages before were of, and that are no longer members. */
  readonly gone: readonly string[];
  readonly token: ContinueToken | undefined;
  pathFor(member: Member): string;
}

/**
 * The limit is divided over the members, so that a page is no longer than it; a limit below the number of members is
 * exceeded. What is shown as one object needs all members' parts at once, and so is not paged.
 */
export function pageOf(path: ApiPath, all: readonly Member[], isOne: boolean): Page {
  const query = new URLSearchParams(path.query);
  const given = query.get("continue") ?? "";
  const token = given === "" ? undefined : decodeToken(given);
  if (given !== "" && token === undefined)
    throw new KubeFault(410, "Expired", "the continue token is of another server");
  const members = token === undefined ? all : all.filter(({ name }) => Object.hasOwn(token.members, name));
  const gone = Object.keys(token?.members ?? {}).filter((name) => !all.some((member) => member.name === name));
  if (token !== undefined && members.length === 0)
    throw new KubeFault(410, "Expired", "the continue token names clusters that are no longer members: list again");
  const limit = Number(query.get("limit") ?? 0);
  query.delete("continue");
  query.delete("limit");
  const each = Math.max(1, Math.floor(limit / Math.max(1, members.length)));
  return {
    members,
    gone,
    token,
    pathFor: ({ name }) => {
      const mine = new URLSearchParams(query);
      if (limit > 0 && !isOne) mine.set("limit", String(each));
      const position = token?.members[name];
      if (position !== undefined) mine.set("continue", position);
      return pathOf(path, mine);
    },
  };
}
