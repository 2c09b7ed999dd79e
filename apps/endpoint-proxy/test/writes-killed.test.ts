import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { eventually } from "@evenkeel/runtime/testing";
import { ADMIN } from "@evenkeel/testkit";
import { afterAll, afterEach, beforeAll, expect, test } from "@jest/globals";
import { type Json, numberAt, parseJson, textAt } from "../src/bodies/json-text.ts";
import { type Answered, ask } from "./gateway-client.ts";
import { ProxyCluster } from "./proxy-cluster.ts";
import { DEPLOYMENTS, deployment } from "./three-clusters.ts";

/** What a cluster's server does with a request of the write, and what becomes of the proxy that sent it. */
type Deed =
  /** The proxy is killed, and the request comes to nothing. */
  | "kill before"
  /** It is carried out; the proxy is killed before it hears of it. */
  | "kill after"
  /** It waits until the proxy is killed, and comes to nothing. */
  | "wait";

interface Blow {
  readonly cluster: string;
  readonly deed: Deed;
  readonly hits: (call: { readonly method: string; readonly isDryRun: boolean }) => boolean;
}

const isCommit: Blow["hits"] = ({ method, isDryRun }) => method !== "GET" && !isDryRun;
const isDryRun: Blow["hits"] = (call) => call.isDryRun;
const isRead: Blow["hits"] = ({ method }) => method === "GET";

const MOMENTS: Readonly<Record<string, readonly Blow[]>> = {
  "while it reads": [{ cluster: "osaka", deed: "kill before", hits: isRead }],
  "in the dry run": [{ cluster: "osaka", deed: "kill after", hits: isDryRun }],
  "before any is written": [
    { cluster: "tokyo", deed: "wait", hits: isCommit },
    { cluster: "osaka", deed: "kill before", hits: isCommit },
  ],
  "when the own cluster is written and the peer is not": [
    { cluster: "tokyo", deed: "kill after", hits: isCommit },
    { cluster: "osaka", deed: "wait", hits: isCommit },
  ],
  "when the peer is written and the own cluster is not": [
    { cluster: "tokyo", deed: "wait", hits: isCommit },
    { cluster: "osaka", deed: "kill after", hits: isCommit },
  ],
};
const [, , , OWN_ALONE = "", PEER_ALONE = ""] = Object.keys(MOMENTS);

const clusters = new Map<string, ProxyCluster>();
let blows: readonly Blow[] = [];
let killed = Promise.withResolvers<undefined>();

/** Only what is asked about Deployments belongs to a write. */
async function faults(name: string, request: IncomingMessage, response: ServerResponse): Promise<"handled" | "pass"> {
  const { method = "", url = "" } = request;
  const isDirect = request.headers["x-test"] === "direct";
  if (isDirect || !url.startsWith("/apis/apps/v1/namespaces/default/deployments")) return "pass";
  const call = { method, isDryRun: url.includes("dryRun=All") || (await bodyOf(request)).includes('"dryRun":["All"]') };
  const blow = blows.find((one) => one.cluster === name && one.hits(call));
  if (blow?.deed === "kill after") response.end = (() => (void kill(response), response)) as typeof response.end;
  if (blow === undefined || blow.deed === "kill after") return "pass";
  if (blow.deed === "kill before") await kill(response);
  await killed.promise;
  response.destroy();
  return "handled";
}

/** What is buffered of the body so far, put back: the server reads it. */
async function bodyOf(request: IncomingMessage): Promise<string> {
  if (request.method !== "DELETE") return "";
  if (request.readableLength === 0 && !request.readableEnded) await new Promise(setImmediate);
  const part = request.read() as Buffer | null;
  if (part !== null) request.unshift(part);
  return part?.toString() ?? "";
}

async function kill(response: ServerResponse): Promise<void> {
  const { process } = clusters.get("tokyo") as ProxyCluster;
  process.signal("SIGKILL");
  await process.exit;
  response.destroy();
  killed.resolve(undefined);
}

const run = (name: string) => {
  const cluster = clusters.get(name) as ProxyCluster;
  const state = `--state=sqlite:${join(cluster.folder, "state.db")}`;
  // A score that lasts, so that a restarted proxy divides as the one before did.
  return cluster.run(state, "--trusted-peers=tokyo,osaka", "--member-deadline=5s", "--fetch-interval=15");
};

beforeAll(async () => {
  for (const name of ["tokyo", "osaka"]) {
    const server = { faults: (request: IncomingMessage, response: ServerResponse) => faults(name, request, response) };
    clusters.set(name, await ProxyCluster.start(name, name, server));
  }
  const [tokyo, osaka] = [...clusters.values()] as [ProxyCluster, ProxyCluster];
  tokyo.adopt("osaka", osaka);
  osaka.adopt("tokyo", tokyo);
  await run("osaka").phase("ready");
  await eventually(async () => expect((await osaka.scores())["osaka"]).toMatchObject({ status: { score: 250 } }));
  await run("tokyo").phase("ready");
  await eventually(async () =>
    expect(Object.values(await tokyo.scores()).map(({ status }) => status?.score)).toEqual([250, 250]),
  );
}, 120_000);
afterEach(() => void (blows = []));
afterAll(async () => {
  for (const cluster of clusters.values()) await cluster[Symbol.asyncDispose]();
}, 60_000);

async function through(method: string, path: string, body?: string, type = "application/json"): Promise<Answered> {
  const tokyo = clusters.get("tokyo") as ProxyCluster;
  const { port } = new URL(await tokyo.process.url("gateway", "/"));
  const headers = ["content-type", type, "accept", "application/json"];
  const asked = { method, token: ADMIN.token, headers, ...(body === undefined ? {} : { body }) };
  return ask(`https://127.0.0.1:${port}`, path, tokyo.authority.cert, asked);
}

async function each(path: string): Promise<readonly (Json | undefined)[]> {
  return Promise.all(
    [...clusters.values()].map(async ({ api }) => {
      const headers = { authorization: `Bearer ${ADMIN.token}`, "x-test": "direct" };
      const response = await fetch(`${api.url}${path}`, { headers });
      const text = await response.text();
      return response.status === 200 ? parseJson(text) : undefined;
    }),
  );
}

interface Write {
  readonly send: (name: string) => Promise<Answered>;
  /** What of an object the write changes. */
  readonly part: (object: Json | undefined) => unknown;
  /** Replicas in all after it; 0 if it deletes. */
  readonly total: number;
}

const replicas = (object: Json | undefined) =>
  object === undefined ? undefined : (numberAt(object, ["spec", "replicas"]) ?? 1);
const MERGE = "application/merge-patch+json";

/** Divided alike, and so small that those of all cases find room. */
function small(name: string): string {
  const object = deployment(name, 9) as { metadata: object };
  Object.assign(object.metadata, { annotations: { "evenkeel.io/divide": "even" } });
  return JSON.stringify(object).replace("100m", "1m");
}

/** Until the proxy divides over both clusters. */
async function bothReady(): Promise<void> {
  const { process } = clusters.get("tokyo") as ProxyCluster;
  const url = await process.url("admin", "/api/v1/ClusterScores/Get");
  await eventually(async () => {
    const { clusters: all } = (await (await fetch(url)).json()) as { clusters: readonly { standing: string }[] };
    expect(all.map(({ standing }) => standing)).toEqual(["Ready", "Ready"]);
  });
}
const WRITES: Readonly<Record<string, Write>> = {
  POST: {
    ...{ total: 9, part: replicas },
    send: (name) => through("POST", DEPLOYMENTS, small(name)),
  },
  PATCH: {
    ...{ total: 20, part: replicas },
    send: (name) => through("PATCH", `${DEPLOYMENTS}/${name}`, '{"spec":{"replicas":20}}', MERGE),
  },
  "PATCH of a label": {
    ...{ total: 9, part: (object) => textAt(object, ["metadata", "labels", "new"]) },
    send: (name) => through("PATCH", `${DEPLOYMENTS}/${name}`, '{"metadata":{"labels":{"new":"1"}}}', MERGE),
  },
  "PUT of a Scale": {
    ...{ total: 2, part: replicas },
    send: (name) => {
      const metadata = { name, namespace: "default" };
      const scale = { apiVersion: "autoscaling/v1", kind: "Scale", metadata, spec: { replicas: 2 } };
      return through("PUT", `${DEPLOYMENTS}/${name}/scale`, JSON.stringify(scale));
    },
  },
  DELETE: {
    ...{ total: 0, part: (object) => object !== undefined },
    send: (name) => through("DELETE", `${DEPLOYMENTS}/${name}`),
  },
};

let count = 0;
const cases = Object.keys(WRITES).flatMap((write) =>
  Object.keys(MOMENTS)
    .filter((moment) => write === "PATCH" || moment === OWN_ALONE || moment === PEER_ALONE)
    .map((moment) => [write, moment] as const),
);

test.each(cases)(
  "%s, killed %s: all as before, or as asked, or the next answer says which is not; the write can be repeated",
  async (kind, moment) => {
    const { send, part, total } = WRITES[kind] as Write;
    const name = `web-${(count += 1)}`;
    const path = `${DEPLOYMENTS}/${name}`;
    await bothReady();
    if (kind !== "POST") expect((await WRITES["POST"]?.send(name))?.status).toBe(201);
    const before = (await each(path)).map(part);
    killed = Promise.withResolvers();
    blows = MOMENTS[moment] ?? [];
    const sent = send(name).catch(() => undefined);
    await killed.promise;
    void sent;
    blows = [];
    await run("tokyo").phase("ready");

    const after = (await each(path)).map(part);
    const changed = after.map((one, index) => one !== before[index]);
    expect(changed).toEqual([moment === OWN_ALONE, moment === PEER_ALONE]);
    const next = await through("GET", path);
    const said = `${next.headers["warning"] ?? ""} ${textAt(next.json as Json, ["message"]) ?? ""}`;
    if (moment === OWN_ALONE || moment === PEER_ALONE) {
      const isHere = (await each(path))[0] !== undefined;
      expect(next.status).toBe(isHere ? 200 : 404);
      expect(said).toMatch(isHere ? /did not complete.*done in \w+, not in \w+/ : /exists in osaka/);
    } else expect(said).not.toContain("did not complete");

    // What was created in a peer alone is deleted before it is created anew.
    if (kind === "POST" && moment === PEER_ALONE) expect((await through("DELETE", path)).status).toBe(200);
    const again = await send(name);
    // A creation that was carried out in part is repeated as kubectl apply does it: by a patch.
    if (again.status === 409) expect((await through("PATCH", path, '{"spec":{"replicas":9}}', MERGE)).status).toBe(200);
    else expect([200, 201]).toContain(again.status);
    const objects = await each(path);
    expect(objects.reduce<number>((sum, object) => sum + (replicas(object) ?? 0), 0)).toBe(total);
    if (total > 0) expect((await through("GET", path)).headers["warning"] ?? "").not.toContain("did not complete");
  },
  60_000,
);
