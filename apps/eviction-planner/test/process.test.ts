import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { eventually } from "@evenkeel/runtime/testing";
import { controlPlane, simNode, workloads } from "@evenkeel/sim";
import { ADMIN, type ServiceProcess, World, worldParts } from "@evenkeel/testkit";
import { expect, test } from "@jest/globals";

/** What the image holds; `nx run eviction-planner:integration` makes it first. */
const main = join(import.meta.dirname, "../dist/main.mjs");
const kinds = ["rebalancepolicies", "workloadsloes", "nodeclasses"];

/** One node took all pods of a Deployment, because two others joined later. */
async function hotSpot(): Promise<World> {
  const server = { behaviours: [...controlPlane, ...workloads()] };
  const world = new World(await worldParts({ service: "eviction-planner", main, kinds, server }));
  load(world, simNode("one", { cpu: "4", memory: "8Gi" }));
  load(world, deployment("press", 7, { app: "press", rebalancer: "ok" }));
  await eventually(async () => expect(await nodesOf(world)).toEqual(Array<string>(7).fill("one")));
  for (const name of ["two", "three"]) load(world, simNode(name, { cpu: "4", memory: "8Gi" }));
  return world;
}

const load = (world: World, object: object) => world.api.load(JSON.stringify(object));

function deployment(name: string, replicas: number, labels: Readonly<Record<string, string>>): object {
  const resources = { requests: { cpu: "500m", memory: "1Gi" } };
  const template = { metadata: { labels }, spec: { containers: [{ name: "main", image: "press:1", resources }] } };
  const spec = { replicas, selector: { matchLabels: { app: name } }, template };
  return { apiVersion: "apps/v1", kind: "Deployment", metadata: { name, namespace: "default" }, spec };
}

function policy(name: string, spec: object): object {
  return { apiVersion: "rebalancer.dev/v1", kind: "RebalancePolicy", metadata: { name }, spec };
}

async function read<T>(world: World, path: string): Promise<T> {
  const headers = { authorization: `Bearer ${ADMIN.token}` };
  return (await (await fetch(`${world.api.url}/${path}`, { headers })).json()) as T;
}

interface PodList {
  readonly items: readonly {
    readonly spec: { readonly nodeName?: string };
    readonly metadata: { readonly uid: string };
  }[];
}

async function nodesOf(world: World): Promise<readonly (string | undefined)[]> {
  const { items } = await read<PodList>(world, "api/v1/namespaces/default/pods");
  return items.map(({ spec }) => spec.nodeName);
}

const statusOf = (world: World, name: string) =>
  read<{ readonly status?: unknown }>(world, `apis/rebalancer.dev/v1/rebalancepolicies/${name}`);

async function metric(service: ServiceProcess, line: RegExp): Promise<number> {
  const text = await (await fetch(await service.url("admin", "/metrics"))).text();
  return Number(line.exec(text)?.[1] ?? NaN);
}

test("the original's manifests lead to a plan in dry run, which says what it would bring and evicts nothing", async () => {
  await using world = await hotSpot();
  load(
    world,
    policy("default", {
      ...{ targetVariance: 0.15, hotThreshold: 0.8, coldThreshold: 0.5, hysteresis: 0.05, maxEvictionsPerMinute: 3 },
      namespaces: { include: ["*"], exclude: ["kube-system"] },
      workloadSelectors: [{ matchLabels: { rebalancer: "ok" } }],
      resourceWeights: { cpu: 0.7, memory: 0.3 },
      ...{ respectPodPriority: true, respectPDB: true, dryRun: true, backoffDuration: "15m" },
      ...{ nodeClassPreference: ["rpi4"], basis: "requests" },
    }),
  );
  load(world, {
    apiVersion: "rebalancer.dev/v1",
    kind: "WorkloadSLO",
    metadata: { name: "prod-api", namespace: "default" },
    spec: { maxDisruptionsPerHour: 5, minReadySeconds: 0, allowStatefulSetEviction: false },
  });
  const before = await read<PodList>(world, "api/v1/namespaces/default/pods");
  const service = world.serve([
    "--sync-period=1s",
    "--metrics-bind-address=0",
    "--health-probe-bind-address=0",
    "--zap-devel",
    "--zap-log-level=2",
  ]);

  await eventually(async () =>
    expect(await statusOf(world, "default")).toMatchObject({
      status: {
        plan: { hotNodes: 1, dryRun: true, evictionsExecuted: 0, evictionsPlanned: expect.any(Number) },
        conditions: expect.arrayContaining([
          expect.objectContaining({ type: "Ready", status: "True", reason: "HotNodes" }),
          expect.objectContaining({ type: "MetricsAvailable", status: "True", reason: "NotNeeded" }),
          expect.objectContaining({ type: "Converged", status: "False" }),
        ]),
      },
    }),
  );
  const { status } = (await statusOf(world, "default")) as { readonly status: { readonly plan: PlanFields } };
  const { sigma, predicted, lowerBound, evictionsPlanned } = status.plan;
  expect(evictionsPlanned).toBeGreaterThan(0);
  expect(predicted).toBeLessThan(sigma);
  expect(lowerBound).toBeLessThanOrEqual(predicted);

  const { objects } = (await (await fetch(await service.url("admin", "/api/v1/Objects/Get"))).json()) as {
    readonly objects: readonly { readonly value: { readonly moves: readonly { readonly from: string }[] } }[];
  };
  expect(objects[0]?.value.moves.map(({ from }) => from)).toContain("one");
  await eventually(async () =>
    expect(await metric(service, /^rebalancer_dry_run_evictions_total (\d+)$/m)).toBe(evictionsPlanned),
  );
  expect(await metric(service, /^rebalancer_sigma\{name="default"\} (.+)$/m)).toBeCloseTo(sigma, 3);
  expect(await metric(service, /^rebalancer_budget_remaining\{namespace="default"\} (.+)$/m)).toBe(5);

  const after = await read<PodList>(world, "api/v1/namespaces/default/pods");
  expect(after.items.map(({ metadata }) => metadata.uid)).toEqual(before.items.map(({ metadata }) => metadata.uid));
  service.signal("SIGTERM");
  expect((await service.exit).code).toBe(0);
});

interface PlanFields {
  readonly sigma: number;
  readonly predicted: number;
  readonly lowerBound: number;
  readonly evictionsPlanned: number;
}

test("a policy with foolish values is held with the name of the field, and a corrected one plans", async () => {
  await using world = await hotSpot();
  load(world, policy("foolish", { hotThreshold: 0.2, coldThreshold: 0.9, basis: "requests" }));
  const service = world.serve(["--sync-period=1s"]);
  const ready = (status: string, reason: string, message = expect.anything() as unknown) =>
    eventually(async () =>
      expect(await statusOf(world, "foolish")).toMatchObject({
        status: {
          conditions: expect.arrayContaining([expect.objectContaining({ type: "Ready", status, reason, message })]),
        },
      }),
    );
  await ready("False", "InvalidPolicy", expect.stringContaining("spec.coldThreshold"));
  const headers = { authorization: `Bearer ${ADMIN.token}`, "content-type": "application/merge-patch+json" };
  await fetch(`${world.api.url}/apis/rebalancer.dev/v1/rebalancepolicies/foolish`, {
    ...{ method: "PATCH", headers, body: JSON.stringify({ spec: { hotThreshold: 0.8, coldThreshold: 0.5 } }) },
  });
  await ready("True", "HotNodes");
  await service.phase("ready");
});

test("without metrics.k8s.io every node is frozen: the policy says so and plans nothing", async () => {
  await using world = await hotSpot();
  load(world, policy("default", { dryRun: false }));
  world.serve(["--sync-period=1s"]);
  await eventually(async () =>
    expect(await statusOf(world, "default")).toMatchObject({
      status: {
        conditions: expect.arrayContaining([
          expect.objectContaining({ type: "Ready", status: "False", reason: "NoUsage" }),
          expect.objectContaining({ type: "MetricsAvailable", status: "False", reason: "NoUsage" }),
        ]),
      },
    }),
  );
  expect(await nodesOf(world)).toEqual(Array<string>(7).fill("one"));
});

test("a recorded decision gives the same plan when it is replayed", async () => {
  await using world = await hotSpot();
  load(world, policy("default", { basis: "requests" }));
  const service = world.serve(["--sync-period=1s"]);
  const ask = async (path: string) => await (await fetch(await service.url("admin", path))).text();
  const id = await eventually(async () => {
    const { decisions } = JSON.parse(await ask("/api/v1/Decisions/List")) as {
      readonly decisions: readonly { readonly id: string; readonly reason: string }[];
    };
    const planned = decisions.find(({ reason }) => reason === "HotNodes");
    expect(planned).toBeDefined();
    return planned?.id ?? "";
  });
  const file = join(world.folder, "recording.json");
  await writeFile(file, await ask(`/api/v1/Decisions/Snapshot?id=${id}`));
  const { stdout } = await promisify(execFile)(process.execPath, [main, "replay", file]);
  expect(stdout).toContain("the same decision as recorded");
});
