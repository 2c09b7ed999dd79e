import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { FakeClock } from "@evenkeel/runtime/testing";
import { type ApiServer, startApiServer } from "./api-server.ts";
import { FaultPlan } from "./fault-plan.ts";

let clock: FakeClock;
let plan: FaultPlan;
let server: ApiServer;

beforeEach(async () => {
  clock = new FakeClock();
  plan = new FaultPlan(clock);
  const users = [{ name: "admin", groups: ["system:masters"], token: "token" }];
  server = await startApiServer({ users, faults: plan.faults });
});
afterEach(() => server.stop());

const NAMESPACED = "/api/v1/namespaces/default";

function send(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = { authorization: "Bearer token", "content-type": "application/json" };
  return fetch(`${server.url}${path}`, { ...init, headers });
}

const status = async (path: string, init?: RequestInit): Promise<number> => (await send(path, init)).status;

test("a fault hits its verb and resource and nothing else", async () => {
  plan.add({ verb: "list", resource: "pods", fault: { kind: "status", code: 500 } });
  expect(await status(`${NAMESPACED}/pods`)).toBe(500);
  expect(await status("/api/v1/pods")).toBe(500);
  expect(await status(`${NAMESPACED}/pods/a`)).toBe(404);
  expect(await status(`${NAMESPACED}/configmaps`)).toBe(200);
  expect(await status("/api/v1/namespaces/default")).toBe(200);
  expect(await status("/version")).toBe(200);
});

test("a fault hits the object of its name and no other", async () => {
  plan.add({ resource: "pods", name: "a", fault: { kind: "status", code: 500 } });
  expect(await status(`${NAMESPACED}/pods/a`)).toBe(500);
  expect(await status(`${NAMESPACED}/pods/b`)).toBe(404);
  expect(await status(`${NAMESPACED}/pods`)).toBe(200);
});

test("a fault hits the object itself, one of its subresources, or both", async () => {
  const pod = `${NAMESPACED}/pods/a`;
  const faulty = async (subresource?: string) => {
    const undo = plan.add({ ...(subresource !== undefined && { subresource }), fault: { kind: "status", code: 403 } });
    const answers = [await status(pod), await status(`${pod}/status`)];
    undo();
    return answers;
  };
  expect(await faulty()).toEqual([403, 403]);
  expect(await faulty("")).toEqual([403, 404]);
  expect(await faulty("status")).toEqual([404, 403]);
});

test("tells apart all verbs", async () => {
  const undo = plan.add({ verb: "watch", fault: { kind: "status", code: 410 } });
  expect(await status(`${NAMESPACED}/pods?watch=1`)).toBe(410);
  undo();
  plan.add({ verb: "create", resource: "configmaps", fault: { kind: "status", code: 503 } });
  plan.add({ verb: "delete", resource: "configmaps", fault: { kind: "status", code: 500 } });
  const body = JSON.stringify({ metadata: { name: "a" } });
  expect(await status(`${NAMESPACED}/configmaps`, { method: "POST", body })).toBe(503);
  expect(await status(`${NAMESPACED}/configmaps/a`, { method: "DELETE" })).toBe(500);
});

test("answers with a Status and the time to wait, as kube-apiserver does", async () => {
  plan.add({ fault: { kind: "status", code: 429, retryAfterSeconds: 3 } });
  const response = await send(`${NAMESPACED}/pods`);
  expect(response.headers.get("retry-after")).toBe("3");
  expect(await response.json()).toMatchObject({ kind: "Status", code: 429, details: { retryAfterSeconds: 3 } });
});

test("is over after as many requests as it was told", async () => {
  plan.add({ times: 2, fault: { kind: "status", code: 500 } });
  const answers = [];
  for (let call = 0; call < 3; call++) answers.push(await status(`${NAMESPACED}/pods`));
  expect(answers).toEqual([500, 500, 200]);
});

test("hits the share of requests that a seeded random says", async () => {
  const draws = [0.9, 0.1, 0.5];
  const seeded = new FaultPlan(clock, () => draws.shift() ?? 1);
  const shared = await startApiServer({ users: [], faults: seeded.faults });
  seeded.add({ share: 0.5, fault: { kind: "status", code: 500 } });
  const answers = [];
  for (let call = 0; call < 3; call++) answers.push((await fetch(`${shared.url}/version`)).status);
  await shared.stop();
  expect(answers).toEqual([200, 500, 200]);
});

test("breaks the connection", async () => {
  plan.add({ fault: { kind: "reset" } });
  await expect(send(`${NAMESPACED}/pods`)).rejects.toThrow("fetch failed");
});

test("hangs until the caller gives up", async () => {
  plan.add({ times: 1, fault: { kind: "hang" } });
  await expect(send(`${NAMESPACED}/pods`, { signal: AbortSignal.timeout(100) })).rejects.toThrow("timeout");
  expect(await status(`${NAMESPACED}/pods`)).toBe(200);
});

test("delays a request by the time of its clock, then lets it through", async () => {
  plan.add({ times: 1, fault: { kind: "latency", milliseconds: 60_000 } });
  const answer = send(`${NAMESPACED}/pods`);
  while (clock.pending === 0) await new Promise((resolve) => setImmediate(resolve));
  await clock.advance(60_000);
  expect((await answer).status).toBe(200);
});
