import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import type { IncomingMessage } from "node:http";
import { eventually } from "@evenkeel/runtime/testing";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { ask, begin } from "./gateway-client.ts";
import { ALICE, MALLORY, member, TestCluster } from "./gateway-world.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";

let tokyo: TestCluster;
let osaka: TestCluster;

beforeAll(async () => {
  [tokyo, osaka] = await Promise.all([TestCluster.start("tokyo"), TestCluster.start("osaka")]);
  tokyo.join(osaka);
  osaka.join(tokyo);
  await Promise.all([tokyo.reload(), osaka.reload()]);
});
afterAll(async () => {
  await Promise.all([tokyo[Symbol.asyncDispose](), osaka[Symbol.asyncDispose]()]);
});

describe("the port for users", () => {
  test("sends a user with a token to the own cluster as that user, with groups, uid and extra (defect 11)", async () => {
    const answer = await ask(tokyo.users, MAPS, tokyo.authority.cert, { token: ALICE });
    expect(answer.status).toBe(200);
    expect(answer.json).toMatchObject({ kind: "ConfigMapList" });
    expect(tokyo.reached.at(-1)).toMatchObject({
      ...{ method: "GET", url: MAPS },
      user: { name: "alice", uid: "7", groups: ["dev", "system:authenticated"], extra: { scopes: ["a"] } },
      impersonator: { name: "system:serviceaccount:wao-system:endpoint-proxy-impersonator" },
    });
  });

  test("sends a user with a certificate as its common name and organizations", async () => {
    const certificate = tokyo.authority.issue({ name: "bob", organizations: ["ops", "osaka-ops"] });
    expect((await ask(tokyo.users, MAPS, tokyo.authority.cert, { certificate })).status).toBe(200);
    expect(tokyo.reached.at(-1)?.user).toMatchObject({
      ...{ name: "bob", groups: ["ops", "osaka-ops", "system:authenticated"] },
      extra: { "authentication.kubernetes.io/credential-id": [expect.stringMatching(/^X509SHA256=/)] },
    });
  });

  test("takes HTTP/2 clients, with a certificate too", async () => {
    const certificate = tokyo.authority.issue({ name: "bob" });
    const session = connectHttp2(tokyo.users, { ca: tokyo.authority.cert, ...certificate });
    const stream = session.request({ ":path": "/version" });
    const [head] = (await once(stream, "response")) as [Record<string, unknown>];
    stream.resume();
    await once(stream, "end");
    session.close();
    expect(head[":status"]).toBe(200);
    expect(tokyo.reached.at(-1)).toMatchObject({ url: "/version", user: { name: "bob" } });
  });

  test("gives the member's own refusal to a user who lacks a right there", async () => {
    const answer = await ask(tokyo.users, MAPS, tokyo.authority.cert, { token: MALLORY });
    expect(answer.status).toBe(403);
    expect(answer.json["message"]).toBe(
      'configmaps is forbidden: User "mallory" cannot list resource "configmaps" in API group "" in the namespace "default"',
    );
  });

  test.each(["/api", "/apis", "/version", "/openapi/v2", "/openapi/v3", "/healthz", "/livez", "/readyz"])(
    "serves %s of the own cluster",
    async (path) => {
      const before = osaka.reached.length;
      expect((await ask(tokyo.users, path, tokyo.authority.cert, { token: ALICE })).status).toBe(200);
      expect(tokyo.reached.at(-1)).toMatchObject({ url: path, user: { name: "alice" } });
      expect(osaka.reached).toHaveLength(before);
    },
  );

  test("serves aggregated discovery with its ETag", async () => {
    const accept = ["accept", "application/json;as=APIGroupDiscoveryList;v=v2;g=apidiscovery.k8s.io"];
    const to = (headers: readonly string[]) =>
      ask(tokyo.users, "/apis", tokyo.authority.cert, { token: ALICE, headers });
    const first = await to(accept);
    expect(first.json).toMatchObject({ kind: "APIGroupDiscoveryList" });
    expect((await to([...accept, "if-none-match", first.headers.etag ?? ""])).status).toBe(304);
  });

  test("refuses a cluster that is not listed", async () => {
    const answer = await ask(tokyo.users, `/clusters/nowhere${MAPS}`, tokyo.authority.cert, { token: ALICE });
    expect([answer.status, answer.code]).toEqual([400, "EK_PROXY_UNKNOWN_CLUSTER"]);
    expect(answer.json).toMatchObject({ kind: "Status", reason: "BadRequest" });
  });
});

describe("/clusters/<name>/", () => {
  test("is that member alone for every verb: an object that lives there is found there (defect 10)", async () => {
    const at = (name: string, method: string, path: string, body?: object) =>
      ask(tokyo.users, `/clusters/${name}${path}`, tokyo.authority.cert, {
        ...{ method, token: ALICE },
        headers: ["content-type", method === "PATCH" ? "application/merge-patch+json" : "application/json"],
        ...(body && { body: JSON.stringify(body) }),
      });
    const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "there" }, data: { a: "1" } };
    expect((await at("osaka", "POST", MAPS, map)).status).toBe(201);
    expect((await at("osaka", "GET", `${MAPS}/there`)).json).toMatchObject({ data: { a: "1" } });
    expect((await at("tokyo", "GET", `${MAPS}/there`)).status).toBe(404);
    expect((await at("osaka", "PATCH", `${MAPS}/there`, { data: { b: "2" } })).json).toMatchObject({
      data: { a: "1", b: "2" },
    });
    expect((await at("osaka", "DELETE", `${MAPS}/there`)).status).toBe(200);
    expect((await at("osaka", "GET", `${MAPS}/there`)).status).toBe(404);
    expect(osaka.reached.slice(-5).map(({ method, user }) => [method, user.name])).toEqual(
      ["POST", "GET", "PATCH", "DELETE", "GET"].map((method) => [method, "alice"]),
    );
    expect(osaka.audit().at(-1)).toMatchObject({ ...{ listener: "peers", peer: "tokyo", user: "alice", verb: "get" } });
  });

  test("passes a watch on as its events come", async () => {
    const path = `/clusters/osaka${MAPS}?watch=true`;
    const request = begin(tokyo.users, path, tokyo.authority.cert, { token: ALICE });
    request.end();
    const [response] = (await once(request, "response")) as [IncomingMessage];
    let text = "";
    response.setEncoding("utf8").on("data", (part: string) => (text += part));
    osaka.api.load("{apiVersion: v1, kind: ConfigMap, metadata: {name: watched}}");
    await eventually(() => expect(text).toContain('"watched"'));
    request.destroy();
    await eventually(() => expect([tokyo, osaka].map(({ server }) => server.counts().exchanges)).toEqual([0, 0]));
  });

  test("reuses connections to the peer (defect 12)", async () => {
    const path = `/clusters/osaka${MAPS}`;
    await ask(tokyo.users, path, tokyo.authority.cert, { token: ALICE });
    const before = tokyo.server.counts().upstreamSockets;
    for (let index = 0; index < 10; index += 1) await ask(tokyo.users, path, tokyo.authority.cert, { token: ALICE });
    expect(tokyo.server.counts().upstreamSockets).toBe(before);
  });

  test("gives users of both clusters one name, and a service account nothing of its namesake there", async () => {
    for (const { api } of [tokyo, osaka]) api.load("{apiVersion: v1, kind: ServiceAccount, metadata: {name: robot}}");
    osaka.api.load(`
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: robot}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: reader}
subjects: [{kind: ServiceAccount, name: robot, namespace: default}]`);
    const namesake = { token: await osaka.tokenOf("default", "robot") };
    expect((await ask(osaka.users, MAPS, osaka.authority.cert, namesake)).status).toBe(200);
    const robot = await tokyo.tokenOf("default", "robot");
    const answer = await ask(tokyo.users, `/clusters/osaka${MAPS}`, tokyo.authority.cert, { token: robot });
    expect(answer.status).toBe(403);
    expect(osaka.reached.at(-1)?.user).toMatchObject({
      ...{ name: "tokyo:system:serviceaccount:default:robot", groups: ["system:authenticated"] },
    });
  });

  test("is 508 for a cluster that is listed twice, for another one's port for users, and for this cluster's own", async () => {
    tokyo.peers.set("twin", member("twin", { standing: "Duplicate" }));
    tokyo.adopt("port1", osaka.users, osaka.authority.cert);
    tokyo.adopt("itself", tokyo.port2, tokyo.authority.cert);
    await tokyo.reload();
    const codes = [];
    const before = [tokyo.reached.length, osaka.reached.length];
    for (const name of ["twin", "port1", "itself"]) {
      const { status, code } = await ask(tokyo.users, `/clusters/${name}${MAPS}`, tokyo.authority.cert, {
        token: ALICE,
      });
      codes.push([status, code]);
    }
    expect(codes).toEqual([
      [508, "EK_PROXY_DUPLICATE"],
      [508, "EK_PROXY_LOOP"],
      [508, "EK_PROXY_LOOP"],
    ]);
    expect([tokyo.reached.length, osaka.reached.length]).toEqual(before);
  });

  test("is refused if the peer's server cannot be verified (defect 11)", async () => {
    tokyo.peers.set("unknown", member("unknown", { endpoint: osaka.port2 }));
    tokyo.adopt("wrong", osaka.port2, tokyo.authority.cert);
    await tokyo.reload();
    const to = (name: string) => ask(tokyo.users, `/clusters/${name}/version`, tokyo.authority.cert, { token: ALICE });
    expect((await to("unknown")).code).toBe("EK_PROXY_NO_AUTHORITY");
    expect((await to("wrong")).status).toBe(502);
  });
});

test("no body of a request is logged, not of a HEAD either (defect 11)", async () => {
  const body = JSON.stringify({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "quiet" },
    data: { a: "hush" },
  });
  const headers = ["content-type", "application/json"];
  for (const [method, path] of [
    ["POST", MAPS],
    ["HEAD", `${MAPS}/quiet`],
  ] as const) {
    const lines = tokyo.audit().length;
    const request = begin(tokyo.users, path, tokyo.authority.cert, { method, token: ALICE, headers, body });
    request.end(body);
    await once(request, "response");
    await eventually(() => expect(tokyo.audit().length).toBeGreaterThan(lines));
  }
  expect(tokyo.audit().at(-1)).toMatchObject({ user: "alice", resource: "configmaps", name: "quiet" });
  expect(tokyo.lines.join("\n")).not.toContain("hush");
});

test("every request is one line that says who did what where, without tokens and queries", async () => {
  const asked = { token: ALICE, headers: ["audit-id", "audit-1"] };
  const { headers, text } = await ask(
    tokyo.users,
    `/clusters/osaka${MAPS}?labelSelector=secret`,
    tokyo.authority.cert,
    asked,
  );
  expect(headers["audit-id"] ?? "audit-1").toBe("audit-1");
  for (const cluster of [tokyo, osaka]) {
    await eventually(() =>
      expect(cluster.audit().at(-1)).toMatchObject({
        ...{ auditId: "audit-1", user: "alice", verb: "list", resource: "configmaps", namespace: "default" },
        ...{ members: ["osaka"], status: 200, ms: expect.any(Number) as unknown, bytes: Buffer.byteLength(text) },
      }),
    );
  }
  expect([...tokyo.lines, ...osaka.lines].join("\n")).not.toMatch(new RegExp(`${ALICE}|secret`));
});

test.each(["/clusterscores", "/namespaces/wao-system/clusterscores", "/namespaces/wao-system/clusterscores/osaka"])(
  "ClusterScores at %s are the own cluster's (defect 12)",
  async (path) => {
    const before = [tokyo.reached.length, osaka.reached.length] as const;
    const at = `/apis/waoendpointproxy.bitmedia.co.jp/v1beta1${path}`;
    await ask(tokyo.users, at, tokyo.authority.cert, { token: ALICE });
    expect([tokyo.reached.length, osaka.reached.length]).toEqual([before[0] + 1, before[1]]);
  },
);

test("a token of the impersonating account that the API server no longer accepts is replaced", async () => {
  await using cluster = await TestCluster.start("sapporo");
  const status = async () => (await ask(cluster.users, MAPS, cluster.authority.cert, { token: ALICE })).status;
  expect(await status()).toBe(200);
  await cluster.replaceImpersonator();
  await eventually(async () => expect(await status()).toBe(200));
});

describe("an owner of answers", () => {
  test("is asked first, reads the body and who asks, and answers in parts", async () => {
    await using cluster = await TestCluster.start("nagoya", {
      answers: {
        answer: (request) =>
          request.path !== "/api/v1/owned"
            ? undefined
            : async (response) => {
                const body = await request.body();
                response.head(200, ["content-type", "text/plain"]);
                await response.write(`${request.method} `);
                await response.write(`${request.identity.user} ${body.toString("utf8")}`);
                response.end();
              },
      },
    });
    const to = (path: string, body: string | Buffer) =>
      ask(cluster.users, path, cluster.authority.cert, { method: "POST", token: ALICE, body });
    expect(await to("/api/v1/owned", "hello")).toMatchObject({ status: 200, text: "POST alice hello" });
    expect(cluster.reached).toEqual([]);
    await eventually(() => expect(cluster.audit().at(-1)).toMatchObject({ user: "alice", status: 200, bytes: 16 }));
    const chunked = { token: ALICE, method: "POST", headers: ["transfer-encoding", "chunked"] };
    const large = { ...chunked, body: Buffer.alloc(3 * 1024 * 1024 + 1) };
    expect(await ask(cluster.users, "/api/v1/owned", cluster.authority.cert, large)).toMatchObject({
      ...{ status: 413, code: "EK_PROXY_BODY_TOO_LARGE" },
    });
    expect(await to("/api/v1/other", "{}")).toMatchObject({ status: 404 });
    expect(cluster.reached).toHaveLength(1);
  });
});

test("a body without an announced length reaches the member whole, through two proxies", async () => {
  const body = JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "chunked" } });
  const headers = ["transfer-encoding", "chunked", "content-type", "application/json"];
  const asked = { token: ALICE, method: "POST", headers, body };
  const answer = await ask(tokyo.users, `/clusters/osaka${MAPS}`, tokyo.authority.cert, asked);
  expect(answer).toMatchObject({ status: 201, json: { metadata: { name: "chunked" } } });
});

test("more reads than are allowed at once are told to come again", async () => {
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  await using cluster = await TestCluster.start("kobe", {
    settings: { maxReads: 1 },
    faults: async ({ url }): Promise<"pass"> => {
      if (url === "/apis") await held;
      return "pass";
    },
  });
  const first = ask(cluster.users, "/apis", cluster.authority.cert, { token: ALICE });
  await eventually(() => expect(cluster.server.counts().exchanges).toBe(1));
  const second = await ask(cluster.users, MAPS, cluster.authority.cert, { token: ALICE });
  expect(second).toMatchObject({ status: 429, code: "EK_PROXY_TOO_MANY_REQUESTS", headers: { "retry-after": "1" } });
  release();
  expect((await first).status).toBe(200);
});

test("a member that does not respond is named in a Status", async () => {
  tokyo.adopt("gone", "https://127.0.0.1:1", osaka.authority.cert);
  await tokyo.reload();
  const answer = await ask(tokyo.users, `/clusters/gone${MAPS}`, tokyo.authority.cert, { token: ALICE });
  expect(answer).toMatchObject({ status: 503, json: { kind: "Status" }, code: "EK_FORWARD_UNREACHABLE" });
});
