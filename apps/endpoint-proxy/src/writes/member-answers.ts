import { PatchMismatch } from "../bodies/json-patch.ts";
import { mediaType, type ObjectBody, parseObject, UnknownContentType } from "../bodies/object-body.ts";
import { parsePatch } from "../bodies/patch-body.ts";
import { NotStarted } from "../gateway/errors.ts";
import type { OwnedRequest, OwnedResponse, OwnerAnswers } from "../gateway/owner-answers.ts";
import type { Member, Members } from "../members/member.ts";
import { readOf } from "../reads/member-reads.ts";
import { readNamed } from "../reads/named-read.ts";
import { type ApiPath, objectKey, parseApiPath, pathOf } from "./api-path.ts";
import type { BegunWrite } from "./begun-writes.ts";
import { type Change, creation, patching, replacement, rescale } from "./change.ts";
import { Copies } from "./copies.ts";
import { deleteFromMany, type ManyDelete } from "./delete-from-many.ts";
import { FollowedReferences, isFollowed } from "./followed-references.ts";
import { type Answer, badRequest, invalid, jsonAnswer, KubeFault, unsupported, warningHeaders } from "./kube-status.ts";
import { isDone, MemberCalls } from "./member-calls.ts";
import type { AnswersOptions } from "./options.ts";
import { deletedWorkload, mayHaveCopies, writeWithCopies } from "./own-with-copies.ts";
import { ABSENT } from "./put-back.ts";
import { isCopied, isDivided, type Kind, type Rule, ruleOf } from "./verb-table.ts";
import { WriteToMany } from "./write-to-many.ts";

/** Bytes of one object in an answer. etcd holds no more than 1.5 MiB unless told. */
export const OBJECT_LIMIT = 32 * 2 ** 20;

/** Answers what is not the own cluster's alone, as the verb table says. */
export class MemberAnswers implements OwnerAnswers {
  readonly #options: AnswersOptions;

  constructor(options: AnswersOptions) {
    this.#options = { ...options, members: new AskedMembers(options.members) };
  }

  answer(request: OwnedRequest): ((response: OwnedResponse) => Promise<void>) | undefined {
    const path = parseApiPath(request.path);
    if (path === undefined) return undefined;
    const { kind, treatment } = ruleOf(request.method, path);
    if (this.#options.members.own() === undefined) {
      const isRead = request.method === "GET" || treatment === "own";
      // Without the own ClusterScore, the members are not known: the own cluster alone would get all replicas.
      return isRead ? undefined : async () => Promise.reject(new NotStarted({}));
    }
    if (request.method === "GET" && (treatment === "own" || path.name === undefined)) {
      const read = readOf(this.#options, request, path, kind);
      return read && (async (response) => faultsTold(response, async () => read(response)));
    }
    if (mayHaveCopies(request.method, path, { kind, treatment }) && this.#options.members.all().length > 1) {
      return async (response) =>
        faultsTold(response, async () =>
          respond(response, await writeWithCopies(this.#options, this.#calls(request), request, path)),
        );
    }
    if (kind === undefined || treatment === "own") return undefined;
    return async (response) =>
      faultsTold(response, async () => respond(response, await this.#answer(request, path, { kind, treatment })));
  }

  async #answer(request: OwnedRequest, path: ApiPath, { kind, treatment }: Rule & { kind: Kind }): Promise<Answer> {
    const { members, layouts } = this.#options;
    const calls = this.#calls(request);
    const dryRun = this.#options.dryRun || path.query.getAll("dryRun").includes("All");
    const layout = layouts.layout();
    if (request.method === "GET") {
      const accept = request.header("accept");
      return this.#withUnfinished(calls, kind, path, readNamed(calls, members.all(), { path, kind, layout, accept }));
    }
    const body = await request.body();
    const type = request.header("content-type");
    if (request.method === "DELETE") {
      const options = body.length === 0 ? undefined : parsed(() => parseObject("DeleteOptions", type, body));
      return this.#delete(calls, kind, { path, options, dryRun, layout });
    }
    const change = parsed(() => changeOf(request.method, kind, path, type, body));
    const labels = treatment === "label" || treatment === "split";
    const write = new WriteToMany(this.#options, calls, {
      path,
      kind,
      change,
      labels,
      dryRun,
    });
    return parsedAsync(async () => write.answer());
  }

  /** What a process that was killed left undone is named in the answer. */
  async #withUnfinished(calls: MemberCalls, kind: Kind, path: ApiPath, read: Promise<Answer>): Promise<Answer> {
    const { begunWrites, members } = this.#options;
    const object = objectKey(kind, path);
    const answer = await read;
    if (!begunWrites.hasUnfinished(object)) return answer;
    const place = pathOf({ ...path, subresource: undefined });
    const replies = await calls.all(members.all(), () => ({ method: "GET", path: place }));
    const known = replies.filter((reply) => isDone(reply) || reply.status === 404);
    const now = new Map(known.map((reply) => [reply.member.name, isDone(reply) ? reply.json : undefined]));
    return { ...answer, warnings: [...answer.warnings, ...begunWrites.warnings(object, now)] };
  }

  /** With the last workload that needs them, copies of what its pods name are deleted too. */
  async #delete(calls: MemberCalls, kind: Kind, request: ManyDelete): Promise<Answer> {
    const { members, followReferences } = this.#options;
    const { path, dryRun } = request;
    const isOne = isDivided(kind) && path.name !== undefined && !dryRun;
    const own = members.own();
    const object = isOne ? await deletedWorkload(calls, this.#options, path) : undefined;
    const isKept = own === undefined || object === undefined || !isFollowed(object, followReferences);
    if (isKept) return this.#deleted(calls, kind, request);
    const follow = new FollowedReferences(calls, own);
    const deleted = { path, name: path.name ?? "", object };
    const named = await follow.named(deleted);
    const answer = await this.#deleted(calls, kind, request);
    if (await new Copies(calls, own).isDeleted(path)) {
      const peers = members.all().filter((member) => !member.own);
      await follow.release(deleted, named, peers);
    }
    return answer;
  }

  async #deleted(calls: MemberCalls, kind: Kind, request: ManyDelete): Promise<Answer> {
    const { members, begunWrites } = this.#options;
    const { path, dryRun } = request;
    const all = members.all();
    if (dryRun || path.name === undefined || !isCopied(kind)) return deleteFromMany(calls, all, request);
    const object = objectKey(kind, path);
    const marks = all.map(({ name }) => [name, { before: null, asked: ABSENT }]);
    const about = { object, what: "a deletion", isScale: false };
    const end = await begunWrites.begin({ ...about, members: Object.fromEntries(marks) as BegunWrite["members"] });
    try {
      return await deleteFromMany(calls, all, request);
    } finally {
      end();
    }
  }

  #calls({ identity }: OwnedRequest): MemberCalls {
    const { client, deadline, writeDeadline } = this.#options;
    return new MemberCalls(client, identity, { deadline, writeDeadline, size: OBJECT_LIMIT });
  }
}

/**
 * The members that can be asked as a user. An original does not check users, so it holds nothing of what is written
 * here.
 */
export class AskedMembers implements Members {
  readonly #members: Members;

  constructor(members: Members) {
    this.#members = members;
  }

  own(): Member | undefined {
    return this.#members.own();
  }

  get(name: string): Member | undefined {
    return this.#members.get(name);
  }

  all(): readonly Member[] {
    return this.#members.all().filter(({ own, original }) => own || !original);
  }
}

function changeOf(method: string, kind: Kind, path: ApiPath, type: string | undefined, body: Buffer): Change {
  const isScale = path.subresource === "scale";
  if (method === "PATCH") return patching(parsePatch(type, body));
  const object: ObjectBody = parseObject(isScale ? "Scale" : kind, type, body);
  if (isScale) return rescale(object);
  return method === "POST" ? creation(kind, object) : replacement(kind, object);
}

/** What cannot be read is refused before anything is sent. */
function parsed<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw asFault(error);
  }
}

async function parsedAsync<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    throw asFault(error);
  }
}

function asFault(error: unknown): unknown {
  if (error instanceof SyntaxError) return badRequest(`the body cannot be read: ${error.message}`);
  if (error instanceof UnknownContentType) return unsupported(error.message);
  if (error instanceof PatchMismatch) return invalid(`the patch does not fit the object: ${error.message}`);
  return error;
}

/** A refusal of our own, as a Status. It is thrown before anything is sent to the client. */
async function faultsTold(response: OwnedResponse, answer: () => Promise<void>): Promise<void> {
  try {
    await answer();
  } catch (error) {
    if (!(error instanceof KubeFault)) throw error;
    await respond(response, { ...jsonAnswer(error.code, error.status), retryAfter: error.retryAfter });
  }
}

async function respond(
  response: OwnedResponse,
  { status, contentType, body, warnings, retryAfter }: Answer,
): Promise<void> {
  response.head(status, [
    ...["content-type", mediaType(contentType) === "" ? "application/json" : contentType],
    ...["content-length", String(body.length), "cache-control", "no-cache, private"],
    ...(retryAfter === undefined ? [] : ["retry-after", String(retryAfter)]),
    ...warningHeaders(warnings),
  ]);
  await response.write(body);
  response.end();
}
