import type { OwnedRequest, OwnedResponse } from "../gateway/owner-answers.ts";
import type { ApiPath } from "../writes/api-path.ts";
import type { AnswersOptions } from "../writes/options.ts";
import type { Kind } from "../writes/verb-table.ts";
import { readList } from "./list-read.ts";
import { readOwnAlone, readOwnOrSayWhere } from "./own-alone.ts";

type Respond = (response: OwnedResponse) => Promise<void>;

/**
 * How a GET is answered that the verb table does not merge:
 *
 *     ClusterScores, parts of objects, a single cluster    the own cluster's, as received (undefined)
 *     a watch, a list at a resourceVersion                 the own cluster's, with a Warning
 *     a collection                                         of all members
 *     an object                                            the own cluster's; a 404 says where it is
 */
export function readOf(
  options: AnswersOptions,
  request: OwnedRequest,
  path: ApiPath,
  kind: Kind | undefined,
): Respond | undefined {
  const isScore = path.resource === "clusterscores" && path.group === "waoendpointproxy.bitmedia.co.jp";
  if (isScore || path.subresource !== undefined || options.members.all().length < 2) return undefined;
  if (path.name !== undefined) return async (response) => readOwnOrSayWhere(options, request, response, path);
  if (isFollowed(path.query)) return async (response) => readOwnAlone(options, request, response);
  return async (response) => readList(options, request, response, { path, kind });
}

function isFollowed(query: URLSearchParams): boolean {
  const watch = query.get("watch");
  return (watch !== null && watch !== "false" && watch !== "0") || (query.get("resourceVersion") ?? "") !== "";
}
