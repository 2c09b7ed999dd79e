import type { placementsV1 } from "@evenkeel/rpc";
import type { Decision } from "@evenkeel/runtime";
import { eventually } from "@evenkeel/runtime/testing";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { placementsService } from "../src/serve/placements-service.ts";
import { ProxyCluster } from "./proxy-cluster.ts";
import { DEPLOYMENTS, deployment, ThreeClusters } from "./three-clusters.ts";

let world: ThreeClusters;
beforeAll(async () => void (world = await ThreeClusters.start()));
afterAll(async () => world.stop());
afterEach(() => {
  world.troubles.clear();
  world.score({ a: 38, b: 41, c: 40 });
});

type Preview = Partial<placementsV1.PreviewRequest>;
interface Answer {
  readonly workload: string;
  readonly message: string;
  readonly reason: string;
  readonly parts: readonly { readonly cluster: string; readonly before: bigint; readonly after: bigint }[];
}
const context = undefined as never;

function service() {
  const list = async ({ object }: { object?: string | undefined }): Promise<readonly Decision[]> => {
    const verdicts = world.verdicts.filter(({ object: { name } }) => object?.endsWith(`/${name}`)).toReversed();
    const stamp = { id: "0", at: "2026-01-01T00:00:00Z" };
    return Promise.resolve(verdicts.map((verdict) => ({ ...verdict, ...stamp, dryRun: verdict.dryRun === true })));
  };
  return placementsService({ answers: world.options, decisions: { list } }).implementation;
}

async function preview(request: Preview): Promise<Answer> {
  const whole = { workload: "", manifest: "", replicas: undefined, annotations: {}, ...request };
  return (await service().preview(whole, context)) as Answer;
}

const afterOf = ({ parts }: Answer) => parts.map(({ after }) => Number(after));
let count = 0;

async function created(replicas: number, annotations: Record<string, string> = {}): Promise<string> {
  const name = `placed-${(count += 1)}`;
  const body = { ...deployment(name, replicas), metadata: { name, annotations } };
  expect(await world.ask("POST", DEPLOYMENTS, JSON.stringify(body))).toMatchObject({ status: 201 });
  return name;
}

describe("Preview", () => {
  const policies: readonly Record<string, string>[] = [
    {},
    { "evenkeel.io/divide": "even" },
    { "evenkeel.io/divide": "overflow", "evenkeel.io/clusters": "c,a" },
    { "evenkeel.io/clusters": "!b" },
    { "evenkeel.io/cluster-weights": "a=3,b=1" },
    { "evenkeel.io/divide": "all" },
  ];
  for (const annotations of policies) {
    test(`of a manifest with ${JSON.stringify(annotations)} is what a write then does`, async () => {
      const name = `placed-${(count += 1)}`;
      const manifest = JSON.stringify({ ...deployment(name, 10), metadata: { name, annotations } });
      world.seen.length = 0;
      const answer = await preview({ manifest });
      expect(world.seen.toSorted()).toEqual(["a GET", "b GET", "c GET"]);
      expect(answer.workload).toBe(`Deployment/default/${name}`);
      const written = await world.ask("POST", DEPLOYMENTS, manifest);
      expect(written.status).toBe(201);
      const verdict = world.verdicts.at(-1);
      expect(afterOf(answer)).toEqual(verdict?.after.map(({ replicas }) => replicas));
      expect([answer.reason, answer.message]).toEqual([verdict?.reason, verdict?.message]);
    });
  }

  test("of a name with replicas is what a scale then does, and records nothing", async () => {
    const name = await created(10);
    const decided = world.verdicts.length;
    const answer = await preview({ workload: `Deployment/default/${name}`, replicas: 20n });
    expect(world.verdicts).toHaveLength(decided);
    const path = `${DEPLOYMENTS}/${name}/scale`;
    const type = { "content-type": "application/merge-patch+json" };
    expect(await world.ask("PATCH", path, JSON.stringify({ spec: { replicas: 20 } }), type)).toMatchObject({
      status: 200,
    });
    expect(afterOf(answer)).toEqual(world.verdicts.at(-1)?.after.map(({ replicas }) => replicas));
    expect(answer.parts.map(({ before }) => Number(before))).toEqual([4, 3, 3]);
  });

  test("sees what was placed since the last score", async () => {
    const free = { cpu: 1000, memory: 2 ** 50, pods: 100 };
    const scored = (marginalWatts: number) => ({
      score: { source: "watts", score: 100, free, whole: free, marginalWatts, age: 1000 } as const,
    });
    world.score({ a: 38, b: 41, c: 40 }, { a: scored(38), b: scored(41), c: scored(40) });
    await created(15);
    const manifest = JSON.stringify(deployment("later", 15));
    expect((await preview({ manifest })).reason).toBe("Divided");
    expect((await preview({ manifest, replicas: 16n })).reason).toBe("Unplaced");
  });

  test("of a name with another policy divides what there is anew; without any change nothing moves", async () => {
    const workload = `Deployment/default/${await created(10)}`;
    expect(await preview({ workload })).toMatchObject({ action: "keep", reason: "Unchanged" });
    const answer = await preview({ workload, annotations: { "evenkeel.io/clusters": "!b" } });
    expect(afterOf(answer)).toEqual([5, 0, 5]);
    const pinned = `Deployment/default/${await created(9, { "evenkeel.io/clusters": "a" })}`;
    expect(afterOf(await preview({ workload: pinned, annotations: { "evenkeel.io/clusters": "" } }))).toEqual([
      ...[3, 3, 3],
    ]);
  });

  test("of a manifest without replicas keeps those that there are, as apply does", async () => {
    const name = await created(10);
    const answer = await preview({ manifest: JSON.stringify(deployment(name)) });
    expect(afterOf(answer)).toEqual([4, 3, 3]);
  });

  test("is refused where the write would be", async () => {
    const workload = `Deployment/default/${await created(10)}`;
    const code = (name: string) => ({ code: name });
    const bad = { "evenkeel.io/divide": "fairly" };
    await expect(preview({ workload, annotations: bad })).rejects.toMatchObject(code("EK_RPC_BAD_REQUEST"));
    await expect(preview({ workload, replicas: -1n })).rejects.toMatchObject(code("EK_RPC_BAD_REQUEST"));
    const none = { workload: "Deployment/default/nobody" };
    await expect(preview({ ...none, replicas: 3n })).rejects.toMatchObject(code("EK_PROXY_NO_SUCH_WORKLOAD"));
    for (const wrong of [{ workload: "Pod/default/web" }, { workload: "Deployment/web" }, { manifest: "{" }, {}]) {
      await expect(preview(wrong)).rejects.toMatchObject(code("EK_RPC_BAD_REQUEST"));
    }
    world.trouble({ cluster: "b", trouble: "cut", hits: () => true });
    await expect(preview({ workload, replicas: 12n })).rejects.toMatchObject(code("EK_PROXY_PLACEMENT_UNKNOWN"));
  });
});

describe("Explain", () => {
  const explain = async (workload: string) => service().explain({ workload }, context);

  test("tells each cluster's replicas, why, and what somebody else changed since", async () => {
    const name = await created(10, { "evenkeel.io/cluster-minimum": "b=1" });
    const patch = JSON.stringify({ spec: { replicas: 7 } });
    await world.direct("b", "PATCH", `${DEPLOYMENTS}/${name}`, patch, "application/merge-patch+json");
    expect(await explain(`Deployment/default/${name}`)).toMatchObject({
      placement: {
        replicas: 14n,
        places: [
          { cluster: "a", standing: "Ready", replicas: 4n, decided: 4n, reason: "Weighted", note: "38 W" },
          { cluster: "b", replicas: 7n, decided: 3n },
          { cluster: "c", replicas: 3n, decided: 3n },
        ],
      },
      decision: { action: "split", reason: "Divided" },
      policy: { "evenkeel.io/cluster-minimum": "b=1" },
      warnings: [],
    });
  });

  test("with divide: all, replicas are those of the clusters that are to have some", async () => {
    const name = await created(5, { "evenkeel.io/divide": "all", "evenkeel.io/clusters": "b" });
    const { placement } = await explain(`Deployment/default/${name}`);
    expect(placement?.replicas).toBe(5n);
  });

  test("a cluster that does not answer is unknown, never zero", async () => {
    const name = await created(10);
    world.trouble({ cluster: "b", trouble: "cut", hits: () => true });
    const { placement, warnings } = await explain(`Deployment/default/${name}`);
    expect(placement?.places?.map(({ replicas }) => replicas)).toEqual([4n, undefined, 3n]);
    expect(warnings).toEqual([expect.stringContaining("cluster b")]);
  });

  test("what no cluster has is not found", async () => {
    await expect(explain("Deployment/default/nobody")).rejects.toMatchObject({ code: "EK_PROXY_NO_SUCH_WORKLOAD" });
    await expect(explain("nonsense")).rejects.toMatchObject({ code: "EK_RPC_BAD_REQUEST" });
  });
});

test("List has what was written through the proxy, and callers at the same time share one reading", async () => {
  const name = await created(10);
  await world.direct("a", "POST", DEPLOYMENTS, JSON.stringify(deployment("by-hand", 2)));
  const implementation = service();
  world.seen.length = 0;
  const [one, other] = await Promise.all([implementation.list({}, context), implementation.list({}, context)]);
  expect(world.seen.toSorted()).toEqual(["a GET", "a GET", "b GET", "b GET", "c GET", "c GET"]);
  expect(other).toEqual(one);
  const names = one.placements?.map(({ workload }) => workload);
  expect(names).toContain(`Deployment/default/${name}`);
  expect(names).not.toContain("Deployment/default/by-hand");
  expect(one.placements?.find(({ workload }) => workload === `Deployment/default/${name}`)).toMatchObject({
    replicas: 10n,
    places: [{ replicas: 4n }, { replicas: 3n }, { replicas: 3n }],
  });
});

test("a process tells placements of two clusters, as the proxy itself, by gRPC's JSON", async () => {
  await using tokyo = await ProxyCluster.start("tokyo");
  await using osaka = await ProxyCluster.start("osaka");
  tokyo.adopt("osaka", osaka);
  osaka.adopt("tokyo", tokyo);
  for (const [cluster, replicas] of [[tokyo, 3] as const, [osaka, 2] as const]) {
    const labels = { "wao-endpoint-proxy": cluster.name };
    const metadata = { namespace: "default", name: "web", labels };
    cluster.api.load(JSON.stringify({ ...deployment("web", replicas), metadata }));
  }
  osaka.run();
  const running = tokyo.run();
  await eventually(async () => {
    const { osaka: peer } = await tokyo.scores();
    expect(peer).toMatchObject({ status: { score: 250 } });
  });
  const ask = async (method: string, body: object) => {
    const headers = { "content-type": "application/json" };
    const address = await running.url("admin", `/api/v1/Placements/${method}`);
    return (await fetch(address, { method: "POST", headers, body: JSON.stringify(body) })).json();
  };
  const workload = "Deployment/default/web";
  await eventually(async () =>
    expect(await ask("Preview", { workload, replicas: 10 })).toMatchObject({
      ...{ workload, replicas: "10", action: "split", reason: "Divided" },
      parts: [
        { cluster: "tokyo", before: "3", after: "5", reason: "Weighted" },
        { cluster: "osaka", before: "2", after: "5", reason: "Weighted" },
      ],
    }),
  );
  expect(await ask("Explain", { workload })).toMatchObject({
    placement: { replicas: "5", places: [{ replicas: "3" }, { replicas: "2" }] },
    warnings: [],
  });
  expect(await ask("List", {})).toMatchObject({ placements: [{ workload, replicas: "5" }] });
  expect(await ask("Explain", { workload: "Deployment/default/nobody" })).toMatchObject({
    code: "EK_PROXY_NO_SUCH_WORKLOAD",
  });
});
