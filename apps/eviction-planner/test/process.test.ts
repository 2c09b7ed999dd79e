import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { eventually } from "@evenkeel/runtime/testing";
import { ADMIN } from "@evenkeel/testkit";
import { expect, test } from "@jest/globals";
import { hotSpot, load, metric, nodesOf, type PodList, policy, read, statusOf } from "./hot-spot.ts";
import { main } from "./planner-world.ts";

/** Milliseconds that a busy machine may take. */
const PATIENCE = 60_000;

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

  await eventually(
    async () =>
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
    PATIENCE,
  );
  const { status } = (await statusOf(world, "default")) as { readonly status: { readonly plan: PlanFields } };
  const { sigma, predicted, lowerBound, evictionsPlanned } = status.plan;
  expect(evictionsPlanned).toBeGreaterThan(0);
  expect(predicted).toBeLessThan(sigma);
  expect(lowerBound).toBeLessThanOrEqual(predicted);

  await eventually(async () =>
    expect(await metric(service, /^rebalancer_dry_run_evictions_total (\d+)$/m)).toBe(evictionsPlanned),
  );
  expect(await metric(service, /^rebalancer_sigma\{name="default"\} (.+)$/m)).toBeCloseTo(sigma, 3);
  expect(await metric(service, /^rebalancer_budget_remaining\{namespace="default"\} (.+)$/m)).toBe(5);

  const after = await read<PodList>(world, "api/v1/namespaces/default/pods");
  expect(after.items.map(({ metadata }) => metadata.uid)).toEqual(before.items.map(({ metadata }) => metadata.uid));
  service.signal("SIGTERM");
  expect((await service.exit).code).toBe(0);
}, 120_000);

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
    eventually(
      async () =>
        expect(await statusOf(world, "foolish")).toMatchObject({
          status: {
            conditions: expect.arrayContaining([expect.objectContaining({ type: "Ready", status, reason, message })]),
          },
        }),
      PATIENCE,
    );
  await ready("False", "InvalidPolicy", expect.stringContaining("spec.coldThreshold"));
  const headers = { authorization: `Bearer ${ADMIN.token}`, "content-type": "application/merge-patch+json" };
  await fetch(`${world.api.url}/apis/rebalancer.dev/v1/rebalancepolicies/foolish`, {
    ...{ method: "PATCH", headers, body: JSON.stringify({ spec: { hotThreshold: 0.8, coldThreshold: 0.5 } }) },
  });
  await ready("True", "HotNodes");
  await service.phase("ready");
}, 120_000);

test("without metrics.k8s.io every node is frozen: the policy says so and plans nothing", async () => {
  await using world = await hotSpot();
  load(world, policy("default", { dryRun: false }));
  world.serve(["--sync-period=1s"]);
  await eventually(
    async () =>
      expect(await statusOf(world, "default")).toMatchObject({
        status: {
          conditions: expect.arrayContaining([
            expect.objectContaining({ type: "Ready", status: "False", reason: "NoUsage" }),
            expect.objectContaining({ type: "MetricsAvailable", status: "False", reason: "NoUsage" }),
          ]),
        },
      }),
    PATIENCE,
  );
  expect(await nodesOf(world)).toEqual(Array<string>(7).fill("one"));
}, 120_000);

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
  }, PATIENCE);
  const file = join(world.folder, "recording.json");
  await writeFile(file, await ask(`/api/v1/Decisions/Snapshot?id=${id}`));
  const { stdout } = await promisify(execFile)(process.execPath, [main, "replay", file]);
  expect(stdout).toContain("the same decision as recorded");
}, 120_000);
