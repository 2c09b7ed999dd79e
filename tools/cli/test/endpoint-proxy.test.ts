import { mkdirSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { join } from "node:path";
import { eventually } from "@evenkeel/runtime/testing";
import { Authority, simNode } from "@evenkeel/sim";
import { ADMIN, World, worldParts } from "@evenkeel/testkit";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { evenkeel } from "./evenkeel.ts";

const main = join(import.meta.dirname, "../../../apps/endpoint-proxy/src/main.ts");

/** A service that starts on a busy machine, in milliseconds. */
const START_TIMEOUT = 90_000;

const rights = `
{apiVersion: v1, kind: Namespace, metadata: {name: wao-system}}
---
{apiVersion: v1, kind: ServiceAccount, metadata: {name: endpoint-proxy-impersonator, namespace: wao-system}}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: impersonator}, rules: [{apiGroups: [""], resources: [users, groups, serviceaccounts], verbs: [impersonate]}, {apiGroups: [authentication.k8s.io], resources: ["*"], verbs: [impersonate]}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: impersonator}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: impersonator}, subjects: [{kind: ServiceAccount, name: endpoint-proxy-impersonator, namespace: wao-system}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: placements}, rules: [{apiGroups: [apps], resources: [deployments, statefulsets], verbs: [get, list]}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: placements}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: placements}, subjects: [{kind: Group, apiGroup: rbac.authorization.k8s.io, name: "evenkeel:endpoint-proxies"}]}
`;
const web = {
  ...{ apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "web" } },
  spec: {
    ...{ replicas: 3, selector: { matchLabels: { app: "web" } } },
    template: { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "main", image: "web:1" }] } },
  },
};

let world: World;
let address: string;
let users: URL;
let authority: Authority;

/** As a user of the proxy's port for users. */
function write(path: string, body: object): Promise<number | undefined> {
  const headers = { authorization: `Bearer ${ADMIN.token}`, "content-type": "application/json" };
  return new Promise((resolve, reject) => {
    const sent = request(new URL(path, users), { method: "POST", headers, ca: authority.cert }, (response) => {
      response.resume();
      response.on("end", () => resolve(response.statusCode));
    });
    sent.on("error", reject);
    sent.end(JSON.stringify(body));
  });
}

beforeAll(async () => {
  world = new World(await worldParts({ service: "endpoint-proxy", main, kinds: ["clusterscores"] }));
  authority = new Authority("tokyo");
  const pki = join(world.folder, "pki");
  mkdirSync(pki);
  const { cert, key } = authority.server(undefined, "wao-endpoint-proxy");
  writeFileSync(join(pki, "tls.crt"), cert);
  writeFileSync(join(pki, "tls.key"), key);
  world.api.load(rights);
  world.api.load(JSON.stringify(simNode("one", { cpu: "4", memory: "8Gi" })));
  const service = world.serve([
    ...["--fetch-interval=1", "--cluster-name=tokyo", "--port1=0", "--port2=0", `--certificate-directory=${pki}`],
    `--peer-authorities=${join(world.folder, "peers")}`,
  ]);
  address = await service.url("admin", "");
  users = new URL((await service.url("gateway", "")).replace("http:", "https:"));
  await eventually(async () => {
    const { stdout } = await asked("explain", "clusterscore/wao-system/tokyo");
    expect(stdout).toMatch(/Its score is \d+/);
  }, START_TIMEOUT);
  const path = "/apis/apps/v1/namespaces/default/deployments";
  await eventually(async () => expect(await write(path, web)).toBe(201), START_TIMEOUT);
}, START_TIMEOUT);

afterAll(async () => {
  await world[Symbol.asyncDispose]();
  authority[Symbol.dispose]();
});

const asked = (...args: string[]) => evenkeel([...args, `--address=${address}`]);

test("explain deploy/<name> says where the replicas are and why, in the namespace that kubectl would take", async () => {
  const { stdout, code } = await asked("explain", "deploy/web");
  expect(code).toBe(0);
  expect(stdout).toMatch(/^Deployment\/default\/web \(endpoint-proxy\)/);
  expect(stdout).toMatch(/tokyo has 3, \d ready: Weighted/);
  expect(stdout).toMatch(/Divided: web: 3 replicas: tokyo 3/);
  const json = JSON.parse((await asked("explain", "deployment", "default/web", "-o", "json")).stdout) as object;
  expect(json).toMatchObject({ service: "endpoint-proxy", placement: { replicas: "3" } });
  expect(await asked("explain", "sts/web")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("in no cluster"),
  });
});

test("what-if deploy/<name> --replicas says how they would be divided, and writes nothing", async () => {
  const { stdout, code } = await asked("what-if", "deploy/web", "--replicas=20");
  expect(code).toBe(0);
  expect(stdout).toContain(
    "With 20 replicas, the placement of Deployment/default/web would go from tokyo 3 to tokyo 20.",
  );
  expect(stdout).toMatch(/Divided: web: 20 replicas: tokyo 20/);
  expect((await asked("explain", "deploy/web")).stdout).toContain("tokyo has 3,");
  expect((await asked("what-if", "deploy/web")).code).toBe(2);
  expect((await asked("what-if", "pod/default/web", "--replicas=2")).code).toBe(2);
  expect((await asked("what-if", "deploy/nobody", "--replicas=2")).code).toBe(1);
});

test("decisions shows a split as clusters with their replicas", async () => {
  const { stdout, code } = await asked("decisions", "--action=split");
  expect(code).toBe(0);
  expect(stdout).toMatch(/Deployment\/default\/web +split +Divided +none +tokyo 3 +[0-9a-f]{16} +web: 3 replicas: /);
});
