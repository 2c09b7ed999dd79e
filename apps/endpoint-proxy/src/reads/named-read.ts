import { at, type Json, listAt, withValue } from "../bodies/json-text.ts";
import type { Member } from "../members/member.ts";
import { type ApiPath, pathOf } from "../writes/api-path.ts";
import { type Answer, jsonAnswer, notFound } from "../writes/kube-status.ts";
import { isDone, type MemberCalls, messageOf, type Reply } from "../writes/member-calls.ts";
import { foundElsewhere } from "../writes/read-held.ts";
import { isDivided, type Kind } from "../writes/verb-table.ts";
import { jsonAccept } from "./json-accept.ts";
import { type Held, mergedCopy, mergedWorkload } from "./merged-object.ts";
import { columnNames, mergedRow, withClusterColumn } from "./table-rows.ts";
import type { VersionLayout } from "./version-vector.ts";

export interface NamedRead {
  readonly path: ApiPath;
  readonly kind: Kind;
  readonly accept: string | undefined;
  readonly layout: VersionLayout | undefined;
}

/** One object that several members have, as one. Members that do not answer are named in a Warning. */
export async function readNamed(
  calls: MemberCalls,
  members: readonly Member[],
  { path, kind, accept, layout }: NamedRead,
): Promise<Answer> {
  const isTable = accept?.includes("as=Table") === true;
  const replies = await calls.all(members, (member) => ({
    method: "GET",
    path: pathOf(path, queryFor(member, path.query)),
    accept: jsonAccept(accept),
  }));
  const own = replies.find(({ member }) => member.own);
  const holders = replies.filter(isDone);
  if (own === undefined || !isDone(own)) {
    if (own?.status === 404)
      throw notFound(
        foundElsewhere(
          messageOf(own),
          holders.map(({ member }) => member),
        ),
      );
    return ownAnswer(own);
  }
  const held = holders.flatMap(({ member, json }): Held[] =>
    json === undefined ? [] : [{ member: member.name, object: json }],
  );
  const merged = isTable && isTableOf(own.json) ? mergedTable(held, kind, layout) : mergedObject(held, kind, layout);
  return jsonAnswer(200, merged, leftOut(replies));
}

export function mergedObject(held: readonly Held[], kind: Kind | undefined, layout: VersionLayout | undefined): Json {
  return isDivided(kind) ? mergedWorkload(held, layout) : mergedCopy(held, layout);
}

function mergedTable(held: readonly Held[], kind: Kind, layout: VersionLayout | undefined): Json {
  const table = held[0]?.object ?? {};
  const columns = listAt(table, ["columnDefinitions"]);
  const rows = held.flatMap(({ member, object }) => {
    const row = at(object, ["rows", "0"]);
    return row === undefined
      ? []
      : [
          {
            member,
            row,
            columns: columnNames(listAt(object, ["columnDefinitions"])),
          },
        ];
  });
  const shown = withValue(table, ["columnDefinitions"], withClusterColumn(columns));
  return withValue(shown, ["rows"], [mergedRow(columnNames(columns), rows, kind, layout)]);
}

function isTableOf(json: Json | undefined): boolean {
  return at(json, ["kind"]) === "Table";
}

/** Warnings for members that an answer lacks. One that does not have the object, or the kind, is not left out. */
export function leftOut(replies: readonly Reply[]): readonly string[] {
  return replies
    .filter((reply) => !isDone(reply) && reply.status !== 404)
    .map((reply) => `cluster ${reply.member.name} is left out: ${messageOf(reply)}`);
}

function ownAnswer(own: Reply | undefined): Answer {
  if (own?.status === undefined) {
    const message = "the own cluster does not answer";
    return jsonAnswer(503, {
      kind: "Status",
      apiVersion: "v1",
      status: "Failure",
      reason: "ServiceUnavailable",
      code: 503,
      message,
    });
  }
  return {
    status: own.status,
    contentType: own.contentType,
    body: own.body,
    warnings: own.warnings,
  };
}

/** A version of a merged object means nothing to one member, and one of the own cluster nothing to a peer. */
function queryFor({ own }: Member, query: URLSearchParams): URLSearchParams {
  const version = query.get("resourceVersion") ?? "";
  if (version === "" || version === "0" || (own && version.length <= 20)) return query;
  const rest = new URLSearchParams(query);
  rest.delete("resourceVersion");
  return rest;
}
