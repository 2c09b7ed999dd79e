import type { OwnedRequest, OwnedResponse } from "../gateway/owner-answers.ts";
import type { MemberAnswer } from "../members/member-client.ts";
import type { Member } from "../members/member.ts";
import { type ApiPath, pathOf } from "../writes/api-path.ts";
import { jsonAnswer, notFound, warningHeaders } from "../writes/kube-status.ts";
import { isDone, MemberCalls, messageOf } from "../writes/member-calls.ts";
import type { AnswersOptions } from "../writes/options.ts";
import { foundElsewhere } from "../writes/read-held.ts";
import { parseJson } from "../bodies/json-text.ts";

const OBJECT_LIMIT = 32 * 2 ** 20;

/** A watch, or a list that an informer follows with one: the own cluster's alone, and the client is told. */
export async function readOwnAlone(
  options: AnswersOptions,
  request: OwnedRequest,
  response: OwnedResponse,
): Promise<void> {
  const answer = await askOwn(options, request);
  await passOn(answer, response, ["watches and lists at a resourceVersion show the own cluster alone"]);
}

/** An object of a kind that is not copied: the own cluster's. If only a peer has it, the 404 says where. */
export async function readOwnOrSayWhere(
  options: AnswersOptions,
  request: OwnedRequest,
  response: OwnedResponse,
  path: ApiPath,
): Promise<void> {
  const answer = await askOwn(options, request);
  if (answer.status !== 404) return passOn(answer, response, []);
  const body = await answer.read(OBJECT_LIMIT);
  const calls = new MemberCalls(options.client, request.identity, {
    deadline: options.deadline,
    size: OBJECT_LIMIT,
  });
  const peers = options.members.all().filter(({ own }) => !own);
  const replies = await calls.all(peers, () => ({
    method: "GET",
    path: pathOf(path),
  }));
  const holders = replies.filter(isDone).map(({ member }) => member);
  const { status, contentType, warnings } = answer;
  const own = {
    member: ownOf(options),
    status,
    contentType,
    warnings,
    body,
    json: statusOf(body),
  };
  const answered =
    holders.length === 0 ? own : jsonAnswer(404, notFound(foundElsewhere(messageOf(own), holders)).status);
  response.head(404, ["content-type", answered.contentType, "content-length", String(answered.body.length)]);
  await response.write(answered.body);
  response.end();
}

/** An answer as it comes, chunk by chunk. */
export async function passOn(
  answer: MemberAnswer,
  response: OwnedResponse,
  warnings: readonly string[],
): Promise<void> {
  response.head(answer.status, [
    "content-type",
    answer.contentType,
    ...(answer.retryAfter === undefined ? [] : ["retry-after", String(answer.retryAfter)]),
    ...warningHeaders([...warnings, ...answer.warnings]),
  ]);
  for await (const part of answer.body) await response.write(part);
  response.end();
}

async function askOwn(options: AnswersOptions, request: OwnedRequest): Promise<MemberAnswer> {
  const { path, identity, signal } = request;
  const accept = request.header("accept");
  return options.client.ask(ownOf(options), identity, {
    ...{ method: "GET", path, accept, signal, deadline: options.deadline },
  });
}

function ownOf({ members }: AnswersOptions): Member {
  const own = members.own();
  if (own === undefined) throw new Error("the own ClusterScore was not found");
  return own;
}

function statusOf(body: Buffer): ReturnType<typeof parseJson> | undefined {
  try {
    return parseJson(body.toString());
  } catch {
    return undefined;
  }
}
