import { isFields } from "../json.ts";
import { keyOf, type StoredObject } from "../object.ts";
import { ApiFault, badRequest, type Cause, expired, forbiddenValue, invalidOptions, invalidValue } from "../status.ts";
import type { Table } from "../storage/table.ts";
import type { Selection } from "./selection.ts";

export interface Page {
  readonly items: readonly StoredObject[];
  readonly metadata: {
    readonly resourceVersion: string;
    readonly continue?: string;
    readonly remainingItemCount?: number;
  };
}

/** Where a page ended, and of which moment it was. */
interface Token {
  readonly version: number;
  readonly after: string;
}

const FORGOTTEN = "The provided continue parameter is too old to display a consistent list result.";

/** One page of a table. `now` is the store's version. */
export function listPage(table: Table, now: number, query: URLSearchParams, selection: Selection): Page {
  const token = readToken(query.get("continue"));
  const version = token?.version ?? versionOf(query, now);
  const all = table.objectsAt(version);
  if (all === undefined)
    throw expired(token === undefined ? `The resourceVersion for the provided list is too old: ${version}` : FORGOTTEN);
  const chosen = all.filter((object) => selection(object) && (token === undefined || keyOf(object) > token.after));
  const limit = Number(query.get("limit") ?? 0);
  const metadata = { resourceVersion: String(version) };
  const last = limit > 0 && chosen.length > limit ? chosen[limit - 1] : undefined;
  if (last === undefined) return { items: chosen, metadata };
  const selected = query.has("labelSelector") || query.has("fieldSelector");
  return {
    items: chosen.slice(0, limit),
    metadata: {
      ...metadata,
      continue: writeToken({ version, after: keyOf(last) }),
      // With a selector a real server does not know it without looking.
      ...(selected ? {} : { remainingItemCount: chosen.length - limit }),
    },
  };
}

/** The version that a list is of: the present one, unless an exact one is asked for. */
function versionOf(query: URLSearchParams, now: number): number {
  const match = query.get("resourceVersionMatch") ?? "";
  const text = query.get("resourceVersion") ?? "";
  const causes = listCauses(match, text);
  if (causes.length > 0) throw invalidOptions("ListOptions", causes);
  if (text === "" || text === "0") return now;
  const version = Number(text);
  if (version > now) throw tooLarge(version, now);
  return match === "Exact" ? version : now;
}

function listCauses(match: string, version: string): Cause[] {
  if (version !== "" && !/^\d+$/.test(version)) return [invalidValue("resourceVersion", version, "must be a number")];
  if (match === "") return [];
  if (version === "")
    return [
      forbiddenValue("resourceVersionMatch", "resourceVersionMatch is forbidden unless resourceVersion is provided"),
    ];
  if (match !== "Exact" && match !== "NotOlderThan")
    return [invalidValue("resourceVersionMatch", match, "supported values: Exact, NotOlderThan")];
  if (match === "Exact" && version === "0")
    return [
      forbiddenValue("resourceVersionMatch", 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'),
    ];
  return [];
}

export function tooLarge(version: number, now: number): ApiFault {
  const message = `Too large resource version: ${version}, current: ${now}`;
  const causes = [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }];
  return new ApiFault(504, "Timeout", `Timeout: ${message}`, { causes, retryAfterSeconds: 1 });
}

function writeToken(token: Token): string {
  return Buffer.from(JSON.stringify(token)).toString("base64url");
}

function readToken(text: string | null): Token | undefined {
  if (text === null || text === "") return undefined;
  try {
    const token: unknown = JSON.parse(Buffer.from(text, "base64url").toString());
    if (isFields(token) && typeof token["version"] === "number" && typeof token["after"] === "string") {
      return { version: token["version"], after: token["after"] };
    }
  } catch {
    // Falls through: it is none of ours.
  }
  throw badRequest("continue key is not valid");
}
