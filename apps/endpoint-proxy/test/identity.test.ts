import { once } from "node:events";
import { connect } from "node:tls";
import { systemClock } from "@evenkeel/runtime";
import { eventually, FakeClock } from "@evenkeel/runtime/testing";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { TestAuthority } from "../src/gateway/testing/test-authority.ts";
import { ask, type Asked } from "./gateway-client.ts";
import { ALICE, MALLORY, TestCluster } from "./gateway-world.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";
const SCORES = "/apis/waoendpointproxy.bitmedia.co.jp/v1beta1/namespaces/wao-system/clusterscores";
const LIMIT = 3 * 1024 * 1024;

let tokyo: TestCluster;
let osaka: TestCluster;
let stranger: TestAuthority;

const basicAuth = { basicAuthUsername: "user", basicAuthPassword: "pass" };

beforeAll(async () => {
  stranger = new TestAuthority("stranger");
  [tokyo, osaka] = await Promise.all([
    TestCluster.start("tokyo", { settings: { ...basicAuth, maxHeadBytes: 16 * 1024 } }),
    TestCluster.start("osaka"),
  ]);
  tokyo.join(osaka);
  osaka.join(tokyo);
  await Promise.all([tokyo.reload(), osaka.reload()]);
});
afterAll(async () => {
  stranger[Symbol.dispose]();
  await Promise.all([tokyo[Symbol.asyncDispose](), osaka[Symbol.asyncDispose]()]);
});

/** Asks one of tokyo's ports. Gives the status, the code, and how many requests reached an API server. */
async function refused(port: "users" | "port2", asked: Asked, path = MAPS): Promise<readonly unknown[]> {
  const before = tokyo.reached.length + osaka.reached.length;
  const { status, code, json } = await ask(tokyo[port], path, tokyo.authority.cert, asked);
  return [status, code, json["kind"], tokyo.reached.length + osaka.reached.length - before];
}

function expired(): string {
  const claims = { exp: new FakeClock("2020-01-01T00:00:00Z").now() / 1000 };
  return ["{}", JSON.stringify(claims), "x"].map((part) => Buffer.from(part).toString("base64url")).join(".");
}

describe("at the port for users", () => {
  test.each<[string, () => Asked, number, string]>([
    ["without a credential", () => ({}), 401, "EK_PROXY_NO_CREDENTIAL"],
    ["with a forged Authorization", () => ({ token: "forged" }), 401, "EK_PROXY_TOKEN_REFUSED"],
    ["with Basic", () => ({ headers: ["authorization", "Basic dXNlcjpwYXNz"] }), 401, "EK_PROXY_NO_CREDENTIAL"],
    ["with a token that states a past expiry", () => ({ token: expired() }), 401, "EK_PROXY_TOKEN_REFUSED"],
    [
      "with an expired certificate",
      () => ({ certificate: tokyo.authority.issue({ name: "bob", days: -1 }) }),
      401,
      "EK_PROXY_CERTIFICATE_REFUSED",
    ],
    [
      "with a certificate of a wrong authority",
      () => ({ certificate: stranger.issue({ name: "bob", organizations: ["system:masters"] }) }),
      401,
      "EK_PROXY_CERTIFICATE_REFUSED",
    ],
    [
      "with a certificate of a peer's cluster",
      () => ({ certificate: osaka.authority.issue({ name: "bob" }) }),
      401,
      "EK_PROXY_CERTIFICATE_REFUSED",
    ],
    [
      "with Impersonate-User that the user has no right to",
      () => ({ token: MALLORY, headers: ["Impersonate-User", "alice"] }),
      403,
      "EK_PROXY_IMPERSONATION_FORBIDDEN",
    ],
    [
      "with Impersonate-Group that the user has no right to",
      () => ({ token: MALLORY, headers: ["impersonate-user", "mallory", "impersonate-group", "system:masters"] }),
      403,
      "EK_PROXY_IMPERSONATION_FORBIDDEN",
    ],
    [
      "with Impersonate-Group alone",
      () => ({ token: ALICE, headers: ["impersonate-group", "dev"] }),
      400,
      "EK_PROXY_BAD_IMPERSONATION",
    ],
    ["with X-Remote-User", () => ({ token: ALICE, headers: ["X-Remote-User", "root"] }), 403, "EK_PROXY_FORGED_HEADER"],
    [
      "with X-Remote-Group",
      () => ({ token: ALICE, headers: ["x-remote-group", "system:masters"] }),
      403,
      "EK_PROXY_FORGED_HEADER",
    ],
    [
      "with Connection: Impersonate-User",
      () => ({ token: ALICE, headers: ["Connection", "close, Impersonate-User"] }),
      400,
      "EK_PROXY_FORGED_HEADER",
    ],
    [
      "with Connection: Authorization",
      () => ({ token: ALICE, headers: ["Connection", "authorization"] }),
      400,
      "EK_PROXY_FORGED_HEADER",
    ],
    [
      "that passed a proxy already",
      () => ({ token: ALICE, headers: ["evenkeel-passed-proxy", "x"] }),
      508,
      "EK_PROXY_LOOP",
    ],
    [
      "with a body over 3 MiB",
      () => ({ token: ALICE, method: "POST", body: Buffer.alloc(LIMIT + 1, 32) }),
      413,
      "EK_PROXY_BODY_TOO_LARGE",
    ],
    [
      "with a body over 3 MiB whose length is not announced",
      () => ({
        ...{ token: ALICE, method: "POST", body: Buffer.alloc(LIMIT + 1, 32) },
        headers: ["transfer-encoding", "chunked"],
      }),
      413,
      "EK_PROXY_BODY_TOO_LARGE",
    ],
  ])("a request %s is refused and reaches nothing", async (_what, asked, status, code) => {
    expect(await refused("users", asked())).toEqual([status, code, "Status", 0]);
    expect(await refused("users", asked(), `/clusters/osaka${MAPS}`)).toEqual([status, code, "Status", 0]);
  });

  test("a token that has expired is refused and reaches nothing", async () => {
    let ahead = 0;
    await using cluster = await TestCluster.start("nara", {
      clock: { ...systemClock, now: () => systemClock.now() + ahead },
    });
    cluster.api.load("{apiVersion: v1, kind: ServiceAccount, metadata: {name: robot}}");
    const tokens = await Promise.all([1, 2].map(() => cluster.tokenOf("default", "robot", 600)));
    const to = (token = "") => ask(cluster.users, "/version", cluster.authority.cert, { token });
    expect((await to(tokens[0])).status).toBe(200);
    ahead = 601_000;
    const before = cluster.reached.length;
    expect(await to(tokens[1])).toMatchObject({ status: 401, code: "EK_PROXY_TOKEN_REFUSED" });
    expect(cluster.reached).toHaveLength(before);
  });

  test.each(["/api/v1/namespaces/a/../kube-system/secrets", "/api/v1//pods", "/api/v1/namespaces/a%2fb/pods"])(
    "the path %s is refused",
    async (path) => {
      const answer = await raw(tokyo, [`GET ${path} HTTP/1.1`, "host: x", `authorization: Bearer ${ALICE}`]);
      expect(answer).toMatch(/^HTTP\/1.1 400 /);
    },
  );

  test("a head over the limit is 431, and malformed framing is 400", async () => {
    const before = tokyo.reached.length;
    const signed = ["host: x", `authorization: Bearer ${ALICE}`];
    const large = await raw(tokyo, [`GET ${MAPS} HTTP/1.1`, ...signed, `a: ${"b".repeat(20_000)}`]);
    const twice = ["content-length: 3", "transfer-encoding: chunked"];
    const unclear = await raw(tokyo, [`POST ${MAPS} HTTP/1.1`, ...signed, ...twice]);
    const chunk = await raw(tokyo, [`POST ${MAPS} HTTP/1.1`, ...signed, "transfer-encoding: chunked", "", "zz"]);
    expect([large, unclear, chunk].map((answer) => answer.slice(9, 12))).toEqual(["431", "400", "400"]);
    expect(tokyo.reached).toHaveLength(before);
  });

  test("a user may act for another one where the own cluster's rights allow each value", async () => {
    tokyo.api.load(`
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: support}
rules: [{apiGroups: [""], resources: [users], resourceNames: [bob], verbs: [impersonate]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: support}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: support}
subjects: [{kind: User, name: alice}]`);
    const asBob = { token: ALICE, headers: ["Impersonate-User", "bob"] };
    expect((await ask(tokyo.users, MAPS, tokyo.authority.cert, asBob)).status).toBe(200);
    expect(tokyo.reached.at(-1)?.user).toMatchObject({ name: "bob", groups: ["system:authenticated"] });
    await eventually(() => expect(tokyo.audit().at(-1)).toMatchObject({ user: "bob", actor: "alice" }));
    const more = { token: ALICE, headers: ["Impersonate-User", "bob", "Impersonate-Uid", "1"] };
    const answer = await ask(tokyo.users, MAPS, tokyo.authority.cert, more);
    expect(answer.json["message"]).toContain(
      'uids.authentication.k8s.io "1" is forbidden: User "alice" cannot impersonate resource "uids" in API group "authentication.k8s.io" at the cluster scope',
    );
  });

  test("a kubelet's certificate may do what that kubelet may (defect 11)", async () => {
    const kubelet = tokyo.authority.issue({ name: "system:node:n1", organizations: ["system:nodes"] });
    const to = (path: string) => ask(tokyo.users, path, tokyo.authority.cert, { certificate: kubelet });
    expect((await to(MAPS)).status).toBe(200);
    expect((await to("/api/v1/secrets")).status).toBe(403);
    expect(tokyo.reached.at(-1)?.user).toMatchObject({
      ...{ name: "system:node:n1", groups: ["system:nodes", "system:authenticated"] },
    });
  });
});

describe("at the port for peers", () => {
  const remote = ["x-remote-user", "alice"];
  const peer = () => osaka.authority.issue({ name: "wao-endpoint-proxy" });

  test.each<[string, () => Asked, number, string]>([
    ["a peer without a certificate", () => ({ headers: remote }), 401, "EK_PROXY_NOT_A_PEER"],
    ["a user's token", () => ({ token: ALICE, headers: remote }), 401, "EK_PROXY_NOT_A_PEER"],
    [
      "a kubelet's certificate of the peer's cluster",
      () => ({
        certificate: osaka.authority.issue({ name: "system:node:n1", organizations: ["system:nodes"] }),
        headers: remote,
      }),
      401,
      "EK_PROXY_NOT_A_PEER",
    ],
    [
      "a kubelet's certificate of this cluster",
      () => ({ certificate: tokyo.authority.issue({ name: "system:node:n1" }), headers: remote }),
      401,
      "EK_PROXY_NOT_A_PEER",
    ],
    [
      "a certificate of a wrong authority with the right name",
      () => ({ certificate: stranger.issue({ name: "wao-endpoint-proxy" }), headers: remote }),
      401,
      "EK_PROXY_NOT_A_PEER",
    ],
    [
      "an expired certificate of a peer",
      () => ({ certificate: osaka.authority.issue({ name: "wao-endpoint-proxy", days: -1 }), headers: remote }),
      401,
      "EK_PROXY_NOT_A_PEER",
    ],
    ["a peer that names no user", () => ({ certificate: peer() }), 401, "EK_PROXY_NO_IDENTITY"],
    [
      "a peer that sends Impersonate-User",
      () => ({ certificate: peer(), headers: [...remote, "impersonate-user", "root"] }),
      403,
      "EK_PROXY_FORGED_HEADER",
    ],
    [
      "a peer that sends Authorization",
      () => ({ certificate: peer(), token: ALICE, headers: remote }),
      403,
      "EK_PROXY_FORGED_HEADER",
    ],
    [
      "a request that this cluster sent itself",
      () => ({ certificate: peer(), headers: [...remote, "evenkeel-passed-proxy", "uid-of-tokyo"] }),
      508,
      "EK_PROXY_LOOP",
    ],
    [
      "a wrong password",
      () => ({ headers: ["authorization", `Basic ${Buffer.from("user:wrong").toString("base64")}`] }),
      401,
      "EK_PROXY_NOT_A_PEER",
    ],
  ])("%s is refused and reaches nothing", async (_what, asked, status, code) => {
    expect(await refused("port2", asked())).toEqual([status, code, "Status", 0]);
  });

  test("a path to a further cluster is refused", async () => {
    const asked = { certificate: peer(), headers: remote };
    expect(await refused("port2", asked, `/clusters/osaka${MAPS}`)).toEqual([508, "EK_PROXY_LOOP", "Status", 0]);
  });

  test.each([
    ["alice", ["dev"], "alice", ["dev", "system:authenticated"]],
    ["alice", ["system:masters"], "alice", ["system:authenticated"]],
    [
      "system:serviceaccount:default:robot",
      ["system:serviceaccounts"],
      "osaka:system:serviceaccount:default:robot",
      ["system:authenticated"],
    ],
    ["system:node:n1", ["system:nodes"], "osaka:system:node:n1", ["system:authenticated"]],
  ])("a peer's %s in %j is %s in %j here", async (user, groups, here, expected) => {
    const headers = ["x-remote-user", user, ...groups.flatMap((group) => ["x-remote-group", group])];
    await ask(tokyo.port2, MAPS, tokyo.authority.cert, { certificate: peer(), headers });
    expect(tokyo.reached.at(-1)?.user).toMatchObject({ name: here, groups: expected });
  });

  test("an original that knows the password reads ClusterScores and nothing else, and is warned about", async () => {
    const headers = ["authorization", `Basic ${Buffer.from("user:pass").toString("base64")}`];
    expect(await refused("port2", { headers })).toEqual([403, "EK_PROXY_ONLY_SCORES", "Status", 0]);
    expect(await refused("port2", { headers, method: "DELETE" }, `${SCORES}/osaka`)).toEqual([
      ...[403, "EK_PROXY_ONLY_SCORES", "Status", 0],
    ]);
    await ask(tokyo.port2, SCORES, tokyo.authority.cert, { headers });
    expect(tokyo.reached.at(-1)).toMatchObject({ url: SCORES, user: { name: "evenkeel:original-wao-endpoint-proxy" } });
    expect(tokyo.lines.filter((line) => line.includes("BASIC_AUTH"))).toHaveLength(1);
  });
});

/** Sends lines as they are. Gives what comes back. */
async function raw(cluster: TestCluster, lines: readonly string[]): Promise<string> {
  const socket = connect({ host: "127.0.0.1", port: cluster.server.port, ca: cluster.authority.cert });
  await once(socket, "secureConnect");
  socket.write(`${lines.join("\r\n")}\r\n\r\n`);
  const [answer] = (await once(socket, "data")) as [Buffer];
  socket.destroy();
  return answer.toString("latin1");
}
