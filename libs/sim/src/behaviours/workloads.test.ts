import { FakeClock } from "@evenkeel/runtime/testing";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { type ApiServer, controlPlane, startApiServer } from "../api-server.ts";
import type { Fields } from "../json.ts";
import { simNode } from "./nodes/sim-node.ts";
import { seeded } from "../testing/small-world.ts";
import { workloads } from "./workloads.ts";

const labels = { app: "web" };
const clock = new FakeClock();
let server: ApiServer;

beforeEach(async () => {
  const behaviours = [...controlPlane, ...workloads({ startDelay: 2000, terminationDelay: 3000 })];
  const users = [{ name: "admin", groups: ["system:masters"], token: "token" }];
  server = await startApiServer({ users, clock, random: seeded(7), behaviours });
  for (const name of ["a", "b"]) server.load(JSON.stringify(simNode(name, { cpu: "2", memory: "4Gi" })));
  const containers = [{ name: "c", resources: { requests: { cpu: "500m" } } }];
  const template = { metadata: { labels }, spec: { containers } };
  const selector = { matchLabels: labels };
  await send("POST", "/apis/apps/v1", "deployments", {
    metadata: { name: "web" },
    spec: { replicas: 4, selector, template },
  });
  await send("POST", "/api/v1", "services", {
    metadata: { name: "web" },
    spec: { selector: labels, ports: [{ port: 80 }] },
  });
  await send("POST", "/apis/policy/v1", "poddisruptionbudgets", {
    metadata: { name: "web" },
    spec: { selector, maxUnavailable: 1 },
  });
});

afterEach(() => server.stop());

async function send(method: string, group: string, path: string, body?: Fields): Promise<Fields> {
  const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
  const headers = { authorization: "Bearer token", "content-type": type };
  const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
  return (await (await fetch(`${server.url}${group}/namespaces/default/${path}`, init)).json()) as Fields;
}

interface Pod {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly nodeName?: string };
}

async function pods(): Promise<readonly Pod[]> {
  return (await send("GET", "/api/v1", "pods"))["items"] as Pod[];
}

async function endpoints(): Promise<readonly Fields[]> {
  const { items } = (await send("GET", "/apis/discovery.k8s.io/v1", "endpointslices")) as {
    items: { endpoints: Fields[] }[];
  };
  return items.flatMap((slice) => slice.endpoints);
}

test("a Deployment comes to life: pods on nodes, ready, with endpoints and a budget", async () => {
  await clock.advance(2000);
  expect(await send("GET", "/apis/apps/v1", "deployments/web")).toMatchObject({ status: { availableReplicas: 4 } });
  expect((await pods()).map(({ spec }) => spec.nodeName).toSorted()).toEqual(["a", "a", "b", "b"]);
  expect((await endpoints()).map(({ conditions }) => conditions)).toEqual(
    Array.from({ length: 4 }, () => ({ ready: true, serving: true, terminating: false })),
  );
  const budget = await send("GET", "/apis/policy/v1", "poddisruptionbudgets/web");
  expect(budget).toMatchObject({
    status: { expectedPods: 4, currentHealthy: 4, desiredHealthy: 3, disruptionsAllowed: 1 },
  });
});

test("an evicted pod stays an endpoint that serves until it is gone, and a new one takes its place", async () => {
  await clock.advance(2000);
  const [pod] = await pods();
  const name = pod?.metadata.name ?? "";
  const evict = (): Promise<Fields> => send("POST", "/api/v1", `pods/${name}/eviction`, { metadata: { name } });
  expect(await evict()).toMatchObject({ status: "Success" });
  await clock.advance(0);
  expect((await endpoints()).filter(({ conditions }) => (conditions as Fields)["terminating"] === true)).toMatchObject([
    { conditions: { ready: false, serving: true }, targetRef: { name } },
  ]);
  await clock.advance(3000);
  expect((await pods()).map(({ metadata }) => metadata.name)).not.toContain(name);
  expect((await endpoints()).map(({ conditions }) => (conditions as Fields)["ready"])).toEqual([
    true,
    true,
    true,
    true,
  ]);
});

test("a Deployment that is deleted takes its ReplicaSet, pods and endpoints with it", async () => {
  await clock.advance(2000);
  await send("DELETE", "/apis/apps/v1", "deployments/web");
  await clock.advance(3000);
  expect([await pods(), await endpoints()]).toEqual([[], []]);
  expect((await send("GET", "/apis/apps/v1", "replicasets"))["items"]).toEqual([]);
});

test("pods that find no room wait and say so", async () => {
  await send("PATCH", "/apis/apps/v1", "deployments/web", { spec: { replicas: 10 } });
  await clock.advance(2000);
  expect((await pods()).filter(({ spec }) => spec.nodeName === undefined)).toMatchObject(
    Array.from({ length: 2 }, () => ({
      status: {
        phase: "Pending",
        conditions: [
          { type: "PodScheduled", status: "False", message: "0/2 nodes are available: 2 Insufficient cpu." },
        ],
      },
    })),
  );
});
