import { afterEach, describe, expect, test } from "@jest/globals";
import { FakeClock } from "@evenkeel/runtime/testing";
import { type ApiServer, type ApiServerOptions, startApiServer } from "./api-server.ts";

let server: ApiServer;
afterEach(() => server.stop());

async function start(options: Partial<ApiServerOptions> = {}): Promise<void> {
  server = await startApiServer({ users: [{ name: "admin", groups: ["system:masters"], token: "token" }], ...options });
}

function send(path: string, init: { method?: string; body?: string } = {}): Promise<Response> {
  const headers = { authorization: "Bearer token", "content-type": "application/json" };
  return fetch(`${server.url}${path}`, { ...init, headers });
}

const post = (path: string, body: object): Promise<Response> =>
  send(path, { method: "POST", body: JSON.stringify(body) });
const CONFIGMAPS = "/api/v1/namespaces/default/configmaps";

describe("the embedded API server", () => {
  test("makes the same names and uids of the same seed", async () => {
    const identities: unknown[] = [];
    for (let run = 0; run < 2; run++) {
      let state = 7;
      const random = (): number => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
      await start({ random });
      const { metadata } = (await (await post(CONFIGMAPS, { metadata: { generateName: "a-" } })).json()) as {
        metadata: { name: string; uid: string };
      };
      identities.push([metadata.name, metadata.uid]);
      if (run === 0) await server.stop();
    }
    expect(identities[0]).toEqual(identities[1]);
  });

  test("lets a test answer in its place", async () => {
    await start({
      faults: ({ url = "" }, response) => {
        if (!url.includes("configmaps")) return "pass";
        response.writeHead(503).end();
        return "handled";
      },
    });
    expect([(await send(CONFIGMAPS)).status, (await send("/api/v1/nodes")).status]).toEqual([503, 200]);
  });

  test("ends a watch when the time of its clock comes, after a bookmark of what happened", async () => {
    const clock = new FakeClock();
    await start({ clock });
    const watch = await send(`${CONFIGMAPS}?watch=1&allowWatchBookmarks=true&timeoutSeconds=600&labelSelector=none`);
    await post(CONFIGMAPS, { metadata: { name: "a" } });
    await clock.advance(600_000);
    const events = (await watch.text())
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { type: string });
    expect(events.map(({ type }) => type)).toEqual(["BOOKMARK"]);
  });

  test("marks a pod that a node may run, and removes it when its node says so", async () => {
    await start();
    const pods = "/api/v1/namespaces/default/pods";
    await post(pods, { metadata: { name: "a" }, spec: { nodeName: "n", containers: [{ name: "c" }] } });
    const remove = async (grace?: number): Promise<unknown> => {
      const body = grace === undefined ? {} : { body: JSON.stringify({ gracePeriodSeconds: grace }) };
      return (await send(`${pods}/a`, { method: "DELETE", ...body })).json();
    };
    expect(await remove()).toMatchObject({ metadata: { deletionGracePeriodSeconds: 30 } });
    expect((await send(`${pods}/a`)).status).toBe(200);
    await remove(0);
    expect((await send(`${pods}/a`)).status).toBe(404);
  });

  test("gives a pod to a node by a binding alone, and once", async () => {
    await start();
    const pods = "/api/v1/namespaces/default/pods";
    const created = (await (
      await post(pods, { metadata: { name: "a" }, spec: { containers: [{ name: "c" }] } })
    ).json()) as { spec: object };
    const moved = { ...created, spec: { ...created.spec, nodeName: "n" } };
    expect((await send(`${pods}/a`, { method: "PUT", body: JSON.stringify(moved) })).status).toBe(422);
    expect((await post(`${pods}/a/binding`, { target: { name: "n" } })).status).toBe(201);
    expect((await post(`${pods}/a/binding`, { target: { name: "m" } })).status).toBe(409);
    expect(await (await send(`${pods}/a`)).json()).toMatchObject({ spec: { nodeName: "n" } });
  });

  test("tells usage by the annotations of running pods and of nodes", async () => {
    const clock = new FakeClock();
    await start({ clock });
    const usage = (cpu: string, memory: string): object => ({
      annotations: { "kwok.x-k8s.io/usage-cpu": cpu, "kwok.x-k8s.io/usage-memory": memory },
    });
    await post("/api/v1/nodes", { metadata: { name: "a", ...usage("100m", "1Gi") } });
    await post("/api/v1/nodes", { metadata: { name: "idle" } });
    const spec = { nodeName: "a", containers: [{ name: "main" }, { name: "side" }] };
    for (const [name, phase] of Object.entries({ p: "Running", q: "Pending" })) {
      await post("/api/v1/namespaces/default/pods", { metadata: { name, ...usage("250m", "64Mi") }, spec });
      const body = JSON.stringify({ status: { phase } });
      const headers = { authorization: "Bearer token", "content-type": "application/merge-patch+json" };
      const path = `${server.url}/api/v1/namespaces/default/pods/${name}/status`;
      expect((await fetch(path, { method: "PATCH", body, headers })).status).toBe(200);
    }
    const METRICS = "/apis/metrics.k8s.io/v1beta1";
    const read = async (path: string): Promise<unknown> => (await send(`${METRICS}${path}`)).json();
    const measured = { timestamp: new Date(clock.now()).toISOString().replace(".000", ""), window: "15s" };
    expect(await read("/pods")).toMatchObject({
      kind: "PodMetricsList",
      items: [
        {
          metadata: { namespace: "default", name: "p" },
          ...measured,
          containers: [
            { name: "main", usage: { cpu: "250000000n", memory: "67108864" } },
            { name: "side", usage: { cpu: "0n", memory: "0" } },
          ],
        },
      ],
    });
    expect(await read("/namespaces/default/pods/p")).toMatchObject({ kind: "PodMetrics", metadata: { name: "p" } });
    expect(await read("/nodes")).toMatchObject({
      items: [{ metadata: { name: "a" }, usage: { cpu: "350000000n", memory: "1140850688" } }],
    });
    expect((await send(`${METRICS}/nodes/idle`)).status).toBe(404);
    expect((await send(`${METRICS}/nodes?watch=true`)).status).toBe(405);
    expect((await post(`${METRICS}/nodes`, {})).status).toBe(405);
  });

  test("shows an Event in both of its groups, each in its own words", async () => {
    await start();
    const regarding = { kind: "Pod", namespace: "default", name: "a" };
    const events = "/apis/events.k8s.io/v1/namespaces/default/events";
    await post(events, {
      metadata: { name: "e" },
      regarding,
      note: "seen",
      reason: "Tested",
      eventTime: "2026-01-01T00:00:00.000000Z",
    });
    const found = await send("/api/v1/events?fieldSelector=involvedObject.name%3Da");
    expect(await found.json()).toMatchObject({
      items: [{ apiVersion: "v1", message: "seen", involvedObject: regarding }],
    });
    const none = await send(`${events}?fieldSelector=regarding.name%3Db`);
    expect(await none.json()).toMatchObject({ items: [] });
  });

  test("warns of unknown fields unless told otherwise", async () => {
    await start();
    const { headers } = await post(CONFIGMAPS, { metadata: { name: "a" }, dada: {} });
    expect(headers.get("warning")).toBe('299 - "unknown field \\"dada\\""');
  });

  test.each([
    ["GET", "/api/v1/nothings", 404],
    ["GET", "/api/v1/namespaces/default/configmaps/a/status", 404],
    ["POST", "/api/v1/namespaces/default/configmaps/a", 405],
    ["PUT", "/api/v1/namespaces/default/configmaps", 405],
    ["GET", "/apis/authorization.k8s.io/v1/subjectaccessreviews", 405],
    ["GET", "/openapi/v3/apis/nobody.example.com/v1", 404],
    ["GET", "/%zz", 400],
  ])("answers %s %s with %d and a Status", async (method, path, code) => {
    await start();
    const answer = await send(path, { method, ...(method === "GET" ? {} : { body: "{}" }) });
    expect([answer.status, ((await answer.json()) as { kind: string }).kind]).toEqual([code, "Status"]);
  });
});
