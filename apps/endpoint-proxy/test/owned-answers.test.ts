import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { eventually } from "@evenkeel/runtime/testing";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import type { OwnedRequest } from "../src/gateway/owner-answers.ts";
import type { MemberAnswer } from "../src/members/member-client.ts";
import { ask, begin } from "./gateway-client.ts";
import { ALICE, TestCluster } from "./gateway-world.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";
const OWNED = "/api/v1/owned";

let tokyo: TestCluster;
let osaka: TestCluster;
/** What the API server of tokyo was asked with. */
const received: IncomingMessage[] = [];

function faults(request: IncomingMessage, response: ServerResponse): "handled" | "pass" {
  received.push(request);
  if (request.url?.startsWith("/api/v1/busy") === true) response.writeHead(429, { "retry-after": "7" }).end();
  else if (request.url?.startsWith("/api/v1/stalled") === true) response.writeHead(200).write("half");
  else return "pass";
  return "handled";
}

/** Asks every member for the ConfigMaps, and answers with the length of the body. */
const answer = (request: OwnedRequest) => {
  if (!request.path.startsWith(OWNED)) return undefined;
  return async (response: { head(status: number, headers: readonly string[]): void; end(): void }) => {
    const { length } = await request.body();
    for (const member of [tokyo.member, ...tokyo.peers.values()]) {
      const asked = { method: "GET", path: MAPS, signal: request.signal } as const;
      (await tokyo.built.client.ask(member, request.identity, asked)).cancel();
    }
    response.head(200, ["length", String(length)]);
    response.end();
  };
};

beforeAll(async () => {
  const settings = { bodyTimeout: 300, maxWrites: 1, maxHeldBytes: 3 * 1024 * 1024 };
  const answers = { answer };
  [tokyo, osaka] = await Promise.all([
    TestCluster.start("tokyo", { answers, settings, faults }),
    TestCluster.start("osaka"),
  ]);
  tokyo.join(osaka);
  osaka.join(tokyo);
  await Promise.all([tokyo.reload(), osaka.reload()]);
});
afterAll(async () => {
  await Promise.all([tokyo[Symbol.asyncDispose](), osaka[Symbol.asyncDispose]()]);
});

const post = (body: string, headers: readonly string[] = []) =>
  ask(tokyo.users, OWNED, tokyo.authority.cert, { method: "POST", token: ALICE, body, headers });

/** Asks the own cluster as the owner of an answer would. */
const asked = (path: string): Promise<MemberAnswer> => {
  const identity = { user: "alice", uid: undefined, groups: [], extra: {} };
  const request = { method: "GET", path, signal: new AbortController().signal } as const;
  return tokyo.built.client.ask(tokyo.member, identity, request);
};

test("members are asked with the client's Audit-ID and User-Agent, and the audit log names them all", async () => {
  expect((await post("{}", ["audit-id", "audit-2", "user-agent", "kubectl/v1"])).status).toBe(200);
  expect(received.findLast(({ url }) => url === MAPS)?.headers).toMatchObject({
    ...{ "audit-id": "audit-2", "user-agent": "kubectl/v1" },
  });
  await eventually(() => {
    expect(tokyo.audit().at(-1)).toMatchObject({ auditId: "audit-2", members: ["tokyo", "osaka"] });
    expect(osaka.audit().at(-1)).toMatchObject({ auditId: "audit-2", peer: "tokyo", verb: "list" });
  });
});

test("a client that stops within its body frees its slot, announced length or not", async () => {
  for (const header of ["content-length", "transfer-encoding"]) {
    for (const path of header === "content-length" ? [OWNED] : [OWNED, MAPS]) {
      const headers = [header, header === "content-length" ? "10" : "chunked"];
      const request = begin(tokyo.users, path, tokyo.authority.cert, { method: "POST", token: ALICE, headers });
      const answered = once(request, "response") as Promise<[IncomingMessage]>;
      request.write("{");
      const [{ statusCode }] = await answered;
      expect([path, header, statusCode]).toEqual([path, header, 408]);
      request.destroy();
      await eventually(async () => expect((await post("{}")).status).toBe(200));
    }
  }
});

test("a member that stops within its answer frees the slot of a request without an announced length", async () => {
  const headers = ["transfer-encoding", "chunked"];
  const about = { method: "POST", token: ALICE, headers };
  const request = begin(tokyo.users, "/api/v1/stalled", tokyo.authority.cert, about);
  const answered = once(request, "response") as Promise<[IncomingMessage]>;
  request.end("{}");
  const [response] = await answered;
  response.on("error", () => undefined).resume();
  await new Promise((resolve) => response.once("close", resolve));
  expect(response.complete).toBe(false);
  await eventually(async () => expect((await post("{}")).status).toBe(200));
});

test("a member that stops within its answer ends the reading of it, but not within a watch", async () => {
  const watch = await asked("/api/v1/stalled?watch=true");
  const parts = watch.body[Symbol.asyncIterator]();
  await parts.next();
  let isOver = false;
  const more = parts.next().then(
    () => (isOver = true),
    () => (isOver = true),
  );
  await expect((await asked("/api/v1/stalled")).read(1_000)).rejects.toMatchObject({
    code: "EK_PROXY_MEMBER_UNREACHABLE",
  });
  await expect((await asked("/api/v1/stalled")).read(1_000)).rejects.toThrow();
  expect(isOver).toBe(false);
  watch.cancel();
  await more;
});

test("a member's Retry-After is known to who asked it", async () => {
  const answer = await asked("/api/v1/busy");
  answer.cancel();
  expect([answer.status, answer.retryAfter]).toEqual([429, 7]);
  expect((await asked("/version")).retryAfter).toBeUndefined();
});

test("bodies over the limit of all of them are told to come again, and one within it is taken", async () => {
  await using nara = await TestCluster.start("nara", { answers: { answer: lengthOf }, settings: { maxHeldBytes: 10 } });
  const to = (body: string) => ask(nara.users, OWNED, nara.authority.cert, { method: "POST", token: ALICE, body });
  expect(await to("12345678901")).toMatchObject({
    ...{ status: 429, code: "EK_PROXY_TOO_MANY_REQUESTS", headers: { "retry-after": "1" } },
  });
  for (let round = 0; round < 3; round += 1) {
    await eventually(async () => expect(await to("1234567890")).toMatchObject({ status: 200 }));
  }
});

const lengthOf: typeof answer = (request) => async (response) => {
  response.head(200, ["length", String((await request.body()).length)]);
  response.end();
};
