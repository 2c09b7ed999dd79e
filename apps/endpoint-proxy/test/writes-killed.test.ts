import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { eventually } from "@evenkeel/runtime/testing";
import { ADMIN } from "@evenkeel/testkit";
import { afterAll, afterEach, beforeAll, expect, test } from "@jest/globals";
import { type Json, numberAt, parseJson, textAt } from "../src/bodies/json-text.ts";
import { type Answered, ask } from "./gateway-client.ts";
import { type Blow, IN_PART, isCommit, NAMES, UNDOING, UNDONE } from "./killed-moments.ts";
import { ProxyCluster } from "./proxy-cluster.ts";
import { DEPLOYMENTS, deployment } from "./three-clusters.ts";

const clusters = new Map<string, ProxyCluster>();
let blows: readonly Blow[] = [];
/** Those that have met their request. */
let met = new Set<Blow>();
/** Commits that each cluster has got in a case. */
const commits = new Map<string, number>();
let killed = Promise.withResolvers<undefined>();

/** Only what is asked about Deployments belongs to a write. */
async function faults(name: string, request: IncomingMessage, response: ServerResponse): Promise<"handled" | "pass"> {
  const { method = "", url = "" } = request;
  const isDirect = request.headers["x-test"] === "direct";
  if (isDirect || !url.startsWith("/apis/apps/v1/namespaces/default/deployments")) return "pass";
  const isDryRun = url.includes("dryRun=All") || (await bodyOf(request)).includes('"dryRun":["All"]');
  const call = { method, isDryRun, commits: (commits.get(name) ?? 0) + 1 };
  if (isCommit(call)) commits.set(name, call.commits);
  const blow = blows.find((one) => one.cluster === name && one.hits(call));
  if (blow === undefined) return "pass";
  if (blow.deed === "refuse") {
    met.add(blow);
    response.writeHead(422, { "content-type": "application/json" });
    response.end(JSON.stringify({ kind: "Status", apiVersion: "v1", status: "Failure", reason: "Invalid", code: 422 }));
    return "handled";
  }
  if (blow.deed === "carry out") {
    response.end = (() => (void ended(blow, response), response)) as typeof response.end;
    return "pass";
  }
  await ended(blow, response);
  return "handled";
}

/** The response never comes: the proxy is killed before. */
async function ended(blow: Blow, response: ServerResponse): Promise<void> {
  met.add(blow);
  if (met.size === blows.length) {
    const { process } = clusters.get("tokyo") as ProxyCluster;
    process.signal("SIGKILL");
    await process.exit;
    killed.resolve(undefined);
  }
  await killed.promise;
  response.destroy();
}

/** The body of a DELETE, put back: the server reads it. */
async function bodyOf(request: IncomingMessage): Promise<string> {
  const length = Number(request.headers["content-length"] ?? 0);
  if (request.method !== "DELETE" || length === 0) return "";
  while (request.readableLength < length) await once(request, "readable");
  const body = request.read(length) as Buffer;
  request.unshift(body);
  return body.toString();
}

const run = (name: string) => {
  const cluster = clusters.get(name) as ProxyCluster;
  const state = `--state=sqlite:${join(cluster.folder, "state.db")}`;
  // A score that lasts, so that a restarted proxy divides as the one before did.
  return cluster.run(state, `--trusted-peers=${NAMES.join(",")}`, "--member-deadline=5s", "--fetch-interval=15");
};

beforeAll(async () => {
  for (const name of NAMES) {
    const server = { faults: (request: IncomingMessage, response: ServerResponse) => faults(name, request, response) };
    clusters.set(name, await ProxyCluster.start(name, name, server));
  }
  const [tokyo, ...peers] = [...clusters.values()] as [ProxyCluster, ...ProxyCluster[]];
  for (const peer of peers) {
    tokyo.adopt(peer.name, peer);
    peer.adopt("tokyo", tokyo);
    await run(peer.name).phase("ready");
    await eventually(async () => expect((await peer.scores())[peer.name]).toMatchObject({ status: { score: 250 } }));
  }
  await run("tokyo").phase("ready");
  await eventually(async () =>
    expect(Object.values(await tokyo.scores()).map(({ status }) => status?.score)).toEqual([250, 250, 250]),
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
function small(name: string, replicas = 6): string {
  const object = deployment(name, replicas) as { metadata: object };
  Object.assign(object.metadata, { annotations: { "evenkeel.io/divide": "even" } });
  return JSON.stringify(object).replace("100m", "1m");
}

/** Until the proxy divides over all clusters. */
async function allReady(): Promise<void> {
  const { process } = clusters.get("tokyo") as ProxyCluster;
  const url = await process.url("admin", "/api/v1/ClusterScores/Get");
  await eventually(async () => {
    const { clusters: all } = (await (await fetch(url)).json()) as { clusters: readonly { standing: string }[] };
    expect(all.map(({ standing }) => standing)).toEqual(NAMES.map(() => "Ready"));
  });
}
const WRITES: Readonly<Record<string, Write>> = {
  POST: {
    ...{ total: 6, part: replicas },
    send: (name) => through("POST", DEPLOYMENTS, small(name)),
  },
  PATCH: {
    ...{ total: 9, part: replicas },
    send: (name) => through("PATCH", `${DEPLOYMENTS}/${name}`, '{"spec":{"replicas":9}}', MERGE),
  },
  "PATCH of a label": {
    ...{ total: 6, part: (object) => textAt(object, ["metadata", "labels", "new"]) },
    send: (name) => through("PATCH", `${DEPLOYMENTS}/${name}`, '{"metadata":{"labels":{"new":"1"}}}', MERGE),
  },
  PUT: {
    ...{ total: 9, part: replicas },
    send: (name) => through("PUT", `${DEPLOYMENTS}/${name}`, small(name, 9)),
  },
  apply: {
    ...{ total: 9, part: replicas },
    send: (name) => {
      const path = `${DEPLOYMENTS}/${name}?fieldManager=kubectl&force=true`;
      return through("PATCH", path, small(name, 9), "application/apply-patch+yaml");
    },
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
  Object.entries({
    ...(write === "PATCH" ? UNDONE : {}),
    ...IN_PART,
    ...(write === "PATCH" || write === "POST" ? UNDOING : {}),
  }).map(([when, moment]) => [write, when, moment] as const),
);

test.each(cases)(
  "%s, killed %s: all as before, or as asked, or the next answer says which is not; the write can be repeated",
  async (kind, _when, moment) => {
    const { send, part, total } = WRITES[kind] as Write;
    const name = `web-${(count += 1)}`;
    const path = `${DEPLOYMENTS}/${name}`;
    await allReady();
    if (kind !== "POST") expect((await WRITES["POST"]?.send(name))?.status).toBe(201);
    const before = (await each(path)).map(part);
    killed = Promise.withResolvers();
    ({ blows } = moment);
    met = new Set();
    commits.clear();
    const sent = send(name).catch(() => undefined);
    await killed.promise;
    void sent;
    blows = [];
    await run("tokyo").phase("ready");

    const found = await each(path);
    const after = found.map(part);
    const [done, left] = [moment.done, NAMES.filter((one) => !moment.done.includes(one))];
    expect(NAMES.filter((_one, index) => after[index] !== before[index])).toEqual(done);
    const next = await through("GET", path);
    const said = `${next.headers["warning"] ?? ""} ${textAt(next.json as Json, ["message"]) ?? ""}`;
    if (done.length > 0) {
      const holders = NAMES.filter((_one, index) => found[index] !== undefined);
      const isHere = holders.includes("tokyo");
      expect(next.status).toBe(isHere ? 200 : 404);
      expect(said).toContain(
        isHere ? `done in ${done.join(", ")}, not in ${left.join(", ")}` : `exists in ${holders.join(", ")}`,
      );
    } else expect(said).not.toContain("did not complete");

    // What was created in a peer alone is deleted before it is created anew.
    if (kind === "POST" && next.status === 404) expect((await through("DELETE", path)).status).toBe(200);
    const again = await send(name);
    // A creation that was carried out in part is repeated as kubectl apply does it: by a patch.
    if (again.status === 409) expect((await through("PATCH", path, '{"spec":{"replicas":6}}', MERGE)).status).toBe(200);
    else expect([200, 201]).toContain(again.status);
    const objects = await each(path);
    expect(objects.reduce<number>((sum, object) => sum + (replicas(object) ?? 0), 0)).toBe(total);
    if (total === 0) return;
    expect((await through("GET", path)).headers["warning"] ?? "").not.toContain("did not complete");
    // A node has room for 110 pods, and a cluster without room gets none.
    expect((await through("DELETE", path)).status).toBe(200);
  },
  60_000,
);
