import { type Json, parseJson, textAt, writeJson } from "../bodies/json-text.ts";
import { MemberUnreachable } from "../gateway/errors.ts";
import type { OwnedRequest, OwnedResponse } from "../gateway/owner-answers.ts";
import type { MemberAnswer } from "../members/member-client.ts";
import type { Member } from "../members/member.ts";
import type { ApiPath } from "../writes/api-path.ts";
import { warningHeaders } from "../writes/kube-status.ts";
import type { AnswersOptions } from "../writes/options.ts";
import { isCopied, type Kind } from "../writes/verb-table.ts";
import { type ContinueToken, encodeToken } from "./continue-token.ts";
import { jsonAccept } from "./json-accept.ts";
import { keyOf } from "./list-items.ts";
import { type Page, pageOf } from "./list-pages.ts";
import { ListStream } from "./list-stream.ts";
import { type ListShape, writeItem } from "./list-writer.ts";
import { passOn } from "./own-alone.ts";
import { columnNames, withClusterColumn } from "./table-rows.ts";

/** A member's list, with the item that comes next. */
export interface Source {
  readonly member: Member;
  readonly list: ListStream;
  readonly columns: readonly string[];
  item: Buffer | undefined;
  key: string;
}

const CHUNK = 64 * 2 ** 10;

/** A collection of all members in one list, sorted by namespace, name and cluster. Items are streamed one by one. */
export async function readList(
  options: AnswersOptions,
  request: OwnedRequest,
  response: OwnedResponse,
  { path, kind }: { readonly path: ApiPath; readonly kind: Kind | undefined },
): Promise<void> {
  const page = pageOf(path, options.members.all(), isCopied(kind));
  const accept = jsonAccept(request.header("accept"));
  const asked = await Promise.all(
    page.members.map(async (member) => ({
      member,
      answer: await asking(options, request, member, page.pathFor(member), accept),
    })),
  );
  const own = asked.find(({ member }) => member.own);
  if (own !== undefined && own.answer?.status !== 200) {
    for (const { answer } of asked) if (answer !== own.answer) answer?.cancel();
    if (own.answer === undefined) throw new MemberUnreachable({ cluster: own.member.name, fault: "no answer" });
    return passOn(own.answer, response, []);
  }
  try {
    await writeList(options, response, { page, asked, kind });
  } finally {
    for (const { answer } of asked) answer?.cancel();
  }
}

/** Members and what each answered; undefined is no answer. */
type Asked = readonly { readonly member: Member; readonly answer: MemberAnswer | undefined }[];

async function writeList(
  options: AnswersOptions,
  response: OwnedResponse,
  { page, asked, kind }: { readonly page: Page; readonly asked: Asked; readonly kind: Kind | undefined },
): Promise<void> {
  const leftOut = page.gone.map((name): [string, string] => [name, "it is no longer a member"]);
  const sources: Source[] = [];
  for (const { member, answer } of asked) {
    const { status } = answer ?? {};
    const source = answer?.status === 200 ? await opened(member, answer, sources[0]) : undefined;
    if (source) sources.push(source);
    else if (status !== 404) {
      const why = status === undefined ? "no answer" : status === 200 ? "its answer is no list" : `HTTP ${status}`;
      leftOut.push([member.name, why]);
    }
  }
  const warnings = leftOut.map(([name, why]) => `cluster ${name} is left out: ${why}`);
  const [lead] = sources;
  const isTable = lead !== undefined && isTableOf(lead);
  const shape: ListShape = {
    isTable,
    kind,
    columns: lead?.columns ?? [],
    layout: options.layouts.layout(),
  };

  response.head(200, [
    "content-type",
    "application/json",
    "cache-control",
    "no-cache, private",
    ...warningHeaders(warnings),
  ]);
  const writer = new ChunkWriter(response);
  await writer.add(`{${isTable ? '"rows"' : '"items"'}:[`);
  let isFirst = true;
  for (let group = nextGroup(sources); group.length > 0; group = nextGroup(sources)) {
    for (const text of writeItem(shape, group)) {
      if (!isFirst) await writer.add(",");
      isFirst = false;
      await writer.add(text);
    }
    for (const source of group) await advance(source, isTable);
  }
  await writer.add(`]${tailOf(sources, page.token, isTable)}}`);
  await writer.flush();
  response.end();
}

async function asking(
  { client, deadline }: AnswersOptions,
  { identity, signal }: OwnedRequest,
  member: Member,
  path: string,
  accept: string | undefined,
): Promise<MemberAnswer | undefined> {
  if (member.standing === "Unreachable") return undefined;
  try {
    return await client.ask(member, identity, {
      method: "GET",
      path,
      accept,
      signal,
      deadline,
    });
  } catch {
    return undefined;
  }
}

/** With its first item. Undefined if it is no list, or not of the same form as `lead`, the first member's. */
async function opened(member: Member, answer: MemberAnswer, lead: Source | undefined): Promise<Source | undefined> {
  try {
    const list = await new ListStream(answer.body).open();
    const columns = parseJson(list.fields.get("columnDefinitions") ?? "[]");
    const names = columnNames(Array.isArray(columns) ? (columns as Json[]) : []);
    const source = { member, list, columns: names, item: undefined, key: "" };
    if (lead !== undefined && isTableOf(lead) !== isTableOf(source)) return undefined;
    await advance(source, isTableOf(source));
    return source;
  } catch (error) {
    // Without the own cluster's list there is none; what a peer answers is no reason to fail.
    if (member.own) throw error;
    return undefined;
  }
}

function isTableOf({ list }: Pick<Source, "list">): boolean {
  return list.fields.get("kind") === '"Table"';
}

async function advance(source: Source, isTable: boolean): Promise<void> {
  source.item = await source.list.next();
  source.key = source.item === undefined ? "" : keyOf(source.item, isTable);
}

/** The members whose next item has the least key. */
function nextGroup(sources: readonly Source[]): readonly Source[] {
  const left = sources.filter(({ item }) => item !== undefined);
  const least = left.reduce<string | undefined>(
    (key, source) => (key === undefined || source.key < key ? source.key : key),
    undefined,
  );
  return left.filter(({ key }) => key === least);
}

/** What follows the items. The version is the own cluster's, so that a watch of the own cluster can follow. */
function tailOf(sources: readonly Source[], token: ContinueToken | undefined, isTable: boolean): string {
  const [lead] = sources;
  const metadata = sources.map(({ member, list }) => ({
    member,
    json: parseJson(list.fields.get("metadata") ?? "{}"),
  }));
  const version = token?.version ?? textAt(metadata[0]?.json, ["resourceVersion"]) ?? "";
  const positions = metadata.flatMap(({ member, json }): [string, string][] => {
    const position = textAt(json, ["continue"]) ?? "";
    return position === "" ? [] : [[member.name, position]];
  });
  const next =
    positions.length === 0
      ? {}
      : {
          continue: encodeToken({
            version,
            members: Object.fromEntries(positions),
          }),
        };
  const fields = [`"metadata":${writeJson({ resourceVersion: version, ...next })}`];
  for (const name of ["kind", "apiVersion"]) fields.push(`"${name}":${lead?.list.fields.get(name) ?? '""'}`);
  if (isTable) {
    const columns = parseJson(lead?.list.fields.get("columnDefinitions") ?? "[]");
    fields.push(
      `"columnDefinitions":${writeJson(withClusterColumn(Array.isArray(columns) ? (columns as Json[]) : []))}`,
    );
  }
  return `,${fields.join(",")}`;
}

/** Writes in chunks, because each write is a call. */
class ChunkWriter {
  readonly #response: OwnedResponse;
  #parts: Buffer[] = [];
  #size = 0;

  constructor(response: OwnedResponse) {
    this.#response = response;
  }

  async add(text: Buffer | string): Promise<void> {
    const part = Buffer.from(text);
    this.#parts.push(part);
    this.#size += part.length;
    if (this.#size >= CHUNK) await this.flush();
  }

  async flush(): Promise<void> {
    const whole = Buffer.concat(this.#parts);
    this.#parts = [];
    this.#size = 0;
    await this.#response.write(whole);
  }
}
