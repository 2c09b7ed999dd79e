import { eventually } from "@evenkeel/runtime/testing";
import { ADMIN, type ServiceProcess, type World } from "@evenkeel/testkit";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { hotSpot, load, policy, read } from "./hot-spot.ts";

let world: World;
let service: ServiceProcess;

beforeAll(async () => {
  world = await hotSpot();
  load(world, policy("berths", { basis: "requests" }));
  load(world, policy("second", { basis: "requests" }));
  load(world, {
    apiVersion: "rebalancer.dev/v1",
    kind: "WorkloadSLO",
    metadata: { name: "hour", namespace: "default" },
    spec: { maxDisruptionsPerHour: 1 },
  });
  const renewTime = new Date().toISOString().replace("Z", "000Z");
  load(world, {
    ...{ apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { name: "descheduler", namespace: "default" } },
    spec: { holderIdentity: "descheduler-0", leaseDurationSeconds: 137, renewTime },
  });
  service = world.serve(["--sync-period=500ms"]);
  await eventually(async () => expect((await planOf("berths"))?.["moveCount"]).toBe(1), 30_000);
}, 60_000);

afterAll(() => world[Symbol.asyncDispose]());

type Fields = Readonly<Record<string, unknown>>;

async function get(method: string, query: Readonly<Record<string, string>> = {}) {
  const answer = await fetch(
    await service.url("admin", `/api/v1/Evictions/${method}?${new URLSearchParams(query).toString()}`),
  );
  return { status: answer.status, body: (await answer.json()) as Fields };
}

async function planOf(name: string): Promise<Fields | undefined> {
  const { plans } = (await get("Plan", { policy: name })).body as {
    readonly plans: readonly { readonly plan?: Fields }[];
  };
  return plans[0]?.plan;
}

const podNames = async () =>
  (
    await read<{ readonly items: readonly { readonly metadata: { readonly name: string } }[] }>(
      world,
      "api/v1/namespaces/default/pods",
    )
  ).items.map(({ metadata }) => metadata.name);

test("Plan tells what would be evicted with its reasons, the heat of every node and the budgets", async () => {
  expect(await planOf("berths")).toMatchObject({
    ...{ hotNodes: 1, nodeCount: 3, moveCount: 1, hotThreshold: 0.8 },
    heat: { now: [875, 0, 0], predicted: expect.any(Array) as unknown },
    moves: [{ from: "one", workload: "Deployment press", limits: ["HourlyLimit default/hour"] }],
    stays: [{ reason: "HourlyLimit", pods: 6 }],
    budgets: expect.arrayContaining([{ kind: "HourlyLimit", by: "default/hour", limit: 1, used: 0 }]) as unknown,
  });
  expect(await get("Plan", { policy: "nobody" })).toMatchObject({ status: 404, body: { code: "EK_RPC_NOT_FOUND" } });
});

test("a pod that two policies select belongs to the first by name, and the second says so", async () => {
  await eventually(async () =>
    expect(await planOf("second")).toMatchObject({ moveCount: 0, stays: [{ reason: "OtherPolicy", pods: 7 }] }),
  );
});

test("WhatIf plans with another budget, gives the curve and the price of constraints, and changes nothing", async () => {
  const none = await get("WhatIf", { policy: "berths", budget: "0" });
  expect(none.body).toMatchObject({ moves: [], curve: [{ evictions: 0 }] });
  const { body } = await get("WhatIf", { policy: "berths", prices: "true" });
  expect(body).toMatchObject({
    moves: [{ from: "one" }],
    curve: [{ evictions: 0 }, { evictions: 1 }],
    prices: [{ reason: "HourlyLimit", by: "default/hour" }],
  });
  expect(body["predicted"]).toBeLessThan(body["sigma"] as number);
  for (const bad of [{ budget: "1001" }, { hotThreshold: "7" }, { targetSigma: "NaN" }]) {
    expect(await get("WhatIf", { policy: "berths", ...bad })).toMatchObject({ status: 400 });
  }
});

test("Explain says of each pod whether it would be evicted, and else everything that holds it", async () => {
  const pods = await podNames();
  const answers = await Promise.all(
    pods.slice(0, 3).map(async (pod) => (await get("Explain", { pod: `default/${pod}`, policy: "berths" })).body),
  );
  const verdicts = answers.map(({ verdicts }) => (verdicts as readonly Fields[])[0]);
  expect(verdicts).toContainEqual(expect.objectContaining({ nodeIsHot: true, nodeLevel: 0.875 }));
  expect(verdicts.filter((verdict) => verdict?.["move"] !== undefined).length).toBeLessThanOrEqual(1);
  const all = (await get("Explain", { pod: `default/${pods[0]}` })).body as { readonly verdicts: readonly Fields[] };
  expect(all.verdicts.map(({ policy }) => policy)).toEqual(["berths", "second"]);
  expect(all.verdicts[1]).toMatchObject({ holds: [{ reason: "OtherPolicy", by: "berths" }] });
  expect(await get("Explain", { pod: "default/nobody" })).toMatchObject({ status: 404 });
  expect(await get("Explain", { pod: "press" })).toMatchObject({ status: 400 });
});

test("more questions at once than can wait are refused, and the others are answered", async () => {
  const answers = await Promise.all(Array.from({ length: 12 }, () => get("WhatIf", { policy: "berths" })));
  const statuses = new Set(answers.map(({ status }) => status));
  expect(statuses).toEqual(new Set([200, 429]));
});

test("History has a point for each plan", async () => {
  await eventually(async () => {
    const { points } = (await get("History", { policy: "berths" })).body as { readonly points: readonly Fields[] };
    expect(points.length).toBeGreaterThan(1);
    expect(points[0]).toMatchObject({ sigma: expect.any(Number), lowerBound: expect.any(Number), evicted: 0 });
  });
});

test("Pause needs a token and stops plans until Resume", async () => {
  const post = async (method: string, token?: string) => {
    const headers = { "content-type": "application/json", ...(token && { authorization: `Bearer ${token}` }) };
    const init = { method: "POST", headers, body: JSON.stringify({ policy: "second" }) };
    return (await fetch(await service.url("admin", `/api/v1/Evictions/${method}`), init)).status;
  };
  const isPaused = async () => {
    const { plans } = (await get("Plan", { policy: "second" })).body as { readonly plans: readonly Fields[] };
    return plans[0]?.["reason"] === "Paused";
  };
  expect(await post("Pause")).toBe(401);
  expect(await post("Pause", ADMIN.token)).toBe(200);
  await eventually(async () => expect(await isPaused()).toBe(true));
  expect(await post("Resume", ADMIN.token)).toBe(200);
  await eventually(async () => expect(await isPaused()).toBe(false));
});

test("/dashboard/data has the nodes and policies in the form of the original", async () => {
  const answer = await fetch(await service.url("admin", "/dashboard/data"));
  const node = (name: string, used: number, classification: string) => ({
    ...{ name, classification, cpuCapacity: 4, cpuUsage: 4 * used, cpuUtilization: used },
    ...{ memoryCapacity: 8 * 2 ** 30, memoryUsage: 8 * 2 ** 30 * used, memoryUtilization: used },
  });
  expect(await answer.json()).toMatchObject({
    generatedAt: expect.any(String) as unknown,
    nodes: [node("one", 0.875, "hot"), node("three", 0, "cold"), node("two", 0, "cold")],
    policies: [
      {
        ...{ name: "berths", targetVariance: 0.15, hotThreshold: 0.8, coldThreshold: 0.5, dryRun: true },
        ...{ maxEvictionsPerMinute: 3, maxEvictionsPerNamespace: null, plan: { hotNodes: 1, evictionsPlanned: 1 } },
        ...{ namespacesAllowed: [], namespacesExcluded: [] },
      },
      { name: "second" },
    ],
  });
});

test("the statuses of a WorkloadSLO and a NodeClass say how much is used, and which nodes were found", async () => {
  load(world, {
    ...{ apiVersion: "rebalancer.dev/v1", kind: "NodeClass", metadata: { name: "first" } },
    spec: { matchExpressions: [{ key: "kubernetes.io/hostname", operator: "In", values: ["one"] }] },
  });
  const status = async (path: string) =>
    (await read<{ status?: unknown }>(world, `apis/rebalancer.dev/v1/${path}`)).status;
  await eventually(async () => {
    expect(await status("nodeclasses/first")).toMatchObject({ nodeCount: 1, lastSync: expect.any(String) as unknown });
    expect(await status("namespaces/default/workloadsloes/hour")).toMatchObject({
      ...{ disruptionsInWindow: 0, lastViolation: expect.any(String) as unknown },
      conditions: [
        { type: "Ready", status: "True" },
        { type: "BudgetExhausted", status: "False" },
      ],
    });
  });
});

test("a live Lease of descheduler is a condition, and stops nothing", async () => {
  await eventually(async () => {
    const { status } = await read<{ status?: unknown }>(world, "apis/rebalancer.dev/v1/rebalancepolicies/berths");
    const runs = expect.objectContaining({ type: "DeschedulerRuns", status: "True" }) as unknown;
    expect(status).toMatchObject({
      conditions: expect.arrayContaining([runs]) as unknown,
      plan: { evictionsPlanned: 1 },
    });
  }, 30_000);
});
