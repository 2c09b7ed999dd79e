import { type Cause, forbiddenValue, invalidOptions, invalidValue, requiredValue } from "../status.ts";
import { isTrue } from "./selection.ts";

export interface WatchOptions {
  /** Events after it are told; undefined begins with what is there. */
  readonly after: number | undefined;
  /** Whether a bookmark ends what is there at the beginning. */
  readonly initialEnd: boolean;
  readonly bookmarks: boolean;
  /** Seconds; undefined leaves it to the server. */
  readonly timeout: number | undefined;
  /** A version that the server must have seen. */
  readonly notOlderThan: number;
}

/** Reads the options of a watch. Fails with Invalid where they contradict each other. */
export function parseWatchOptions(query: URLSearchParams): WatchOptions {
  const text = query.get("resourceVersion") ?? "";
  const match = query.get("resourceVersionMatch") ?? "";
  const initial = isTrue(query.get("sendInitialEvents"));
  const bookmarks = isTrue(query.get("allowWatchBookmarks"));
  const causes = watchCauses({
    text,
    match,
    initial: query.has("sendInitialEvents"),
    bookmarks: bookmarks || !initial,
  });
  if (causes.length > 0) throw invalidOptions("ListOptions", causes);
  const timeout = Number(query.get("timeoutSeconds") ?? 0);
  return {
    after: initial || text === "" || text === "0" ? undefined : Number(text),
    initialEnd: initial,
    bookmarks,
    timeout: timeout > 0 ? timeout : undefined,
    notOlderThan: Number(text),
  };
}

interface Given {
  readonly text: string;
  readonly match: string;
  readonly initial: boolean;
  readonly bookmarks: boolean;
}

function watchCauses({ text, match, initial, bookmarks }: Given): Cause[] {
  return [
    ...(/^\d*$/.test(text) ? [] : [invalidValue("resourceVersion", text, "must be a number")]),
    ...(initial && match !== "NotOlderThan"
      ? [
          requiredValue(
            "resourceVersionMatch",
            "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
          ),
        ]
      : []),
    ...(!initial && match !== ""
      ? [
          forbiddenValue(
            "resourceVersionMatch",
            "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
          ),
        ]
      : []),
    ...(bookmarks ? [] : [forbiddenValue("allowWatchBookmarks", "sendInitialEvents requires allowWatchBookmarks")]),
  ];
}
