import { eventually } from "@evenkeel/runtime/testing";
import { type ApiServerOptions, controlPlane, simNode, workloads } from "@evenkeel/sim";
import { ADMIN, type ServiceProcess, type World } from "@evenkeel/testkit";
import { expect, test } from "@jest/globals";
import { load, metric, policy, read, statusOf } from "./hot-spot.ts";
import { plannerWorld } from "./planner-world.ts";

const ALL = { basis: "requests", targetSigma: 0.001, maxEvictionsPerMinute: 1000 };

/** A cluster whose API server notes the pods whose evictions were asked for, in that order. */
async function cluster(
  options: Partial<ApiServerOptions>,
): Promise<AsyncDisposable & { readonly world: World; readonly evicted: readonly string[] }> {
  const evicted: string[] = [];
  const server: Partial<ApiServerOptions> = {
    ...options,
    audit: ({ method, url }) => {
      const [, pod] = /\/pods\/([^/]+)\/eviction/.exec(url) ?? [];
      if (method === "POST" && pod !== undefined) evicted.push(pod);
    },
  };
  const world = await plannerWorld(server);
  return { world, evicted, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() };
}

function addNodes(world: World, prefix: string, count: number): void {
  for (let index = 0; index < count; index += 1) {
    load(world, simNode(`${prefix}-${String(index).padStart(2, "0")}`, { cpu: "4", memory: "8Gi" }));
  }
}

function addWorkload(world: World, name: string, replicas: number, cpu: string): void {
  const labels = { app: name, tier: "press" };
  const containers = [{ name: "main", image: "press:1", resources: { requests: { cpu, memory: "1Gi" } } }];
  const spec = {
    ...{ replicas, selector: { matchLabels: { app: name } } },
    template: { metadata: { labels }, spec: { containers } },
  };
  load(world, { apiVersion: "apps/v1", kind: "Deployment", metadata: { name, namespace: "default" }, spec });
}

interface Pod {
  readonly metadata: { readonly name: string; readonly uid: string; readonly deletionTimestamp?: string };
  readonly spec: { readonly nodeName?: string };
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

const PODS = "api/v1/namespaces/default/pods";

function isAvailable({ metadata, status }: Pod): boolean {
  const isReady = status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") === true;
  return isReady && metadata.deletionTimestamp === undefined;
}

async function available(world: World, count: number): Promise<readonly Pod[]> {
  return eventually(async () => {
    const { items } = await read<{ readonly items: readonly Pod[] }>(world, PODS);
    expect(items.filter(isAvailable)).toHaveLength(count);
    return items;
  }, 60_000);
}

/** The fewest pods that were available at any time until `signal` aborts, of those that were once `count`. */
async function fewestAvailable(world: World, count: number, signal: AbortSignal): Promise<number> {
  const headers = { authorization: `Bearer ${ADMIN.token}` };
  const answer = await fetch(`${world.api.url}/${PODS}?watch=1`, { headers, signal });
  const pods = new Set<string>();
  let fewest = Infinity;
  let rest = "";
  try {
    for await (const chunk of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      const lines = (rest + chunk).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        const { type, object } = JSON.parse(line) as { readonly type: string; readonly object: Pod };
        if (type !== "DELETED" && isAvailable(object)) pods.add(object.metadata.uid);
        else pods.delete(object.metadata.uid);
        // The watch begins with the pods that are there, one by one.
        if (pods.size === count || fewest < Infinity) fewest = Math.min(fewest, pods.size);
      }
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  return fewest;
}

function disposable(): AbortController & Disposable {
  const controller = new AbortController();
  return Object.assign(controller, { [Symbol.dispose]: () => controller.abort() });
}

interface Planned {
  readonly plans: readonly { readonly plan?: { readonly moves: readonly { readonly pod: string }[] } }[];
}

async function plannedPods(service: ServiceProcess): Promise<readonly string[]> {
  const answer = await fetch(await service.url("admin", "/api/v1/Evictions/Plan?policy=default"));
  const { plans } = (await answer.json()) as Planned;
  return plans[0]?.plan?.moves.map(({ pod }) => pod.replace("default/", "")) ?? [];
}

async function endDryRun(world: World): Promise<void> {
  const headers = { authorization: `Bearer ${ADMIN.token}`, "content-type": "application/merge-patch+json" };
  const body = JSON.stringify({ spec: { dryRun: false } });
  const address = `${world.api.url}/apis/rebalancer.dev/v1/rebalancepolicies/default`;
  expect((await fetch(address, { method: "PATCH", headers, body })).status).toBe(200);
}

test.concurrent(
  "a dry run plans the very pods that are evicted when it ends, in the same order",
  async () => {
    await using scene = await cluster({
      behaviours: [...controlPlane, ...workloads({ startDelay: 100, terminationDelay: 100 })],
    });
    const { world, evicted } = scene;
    addNodes(world, "old", 6);
    addWorkload(world, "small", 18, "300m");
    await available(world, 18);
    for (let index = 0; index < 6; index += 1) addWorkload(world, `large-${index}`, 1, `${1500 + 10 * index}m`);
    await available(world, 24);
    addNodes(world, "new", 6);
    // Evictions under one budget go one after another.
    load(world, {
      ...{ apiVersion: "policy/v1", kind: "PodDisruptionBudget", metadata: { name: "press", namespace: "default" } },
      spec: { maxUnavailable: 6, selector: { matchLabels: { tier: "press" } } },
    });
    load(world, policy("default", { ...ALL, targetSigma: 0.1, dryRun: true }));
    const service = world.serve(["--sync-period=200ms"]);
    const planned = await eventually(async () => {
      const pods = await plannedPods(service);
      expect(pods).toHaveLength(6);
      return pods;
    }, 60_000);
    expect(evicted).toEqual([]);
    await endDryRun(world);
    await eventually(async () => {
      expect(evicted.length).toBeGreaterThanOrEqual(planned.length);
      const converged = expect.objectContaining({ type: "Converged", status: "True" }) as unknown;
      expect(await statusOf(world, "default")).toMatchObject({
        status: { conditions: expect.arrayContaining([converged]) as unknown },
      });
    }, 120_000);
    expect(evicted).toEqual(planned);
  },
  240_000,
);

/** Six nodes of which two have all the pods: each of them gives several, one at a time. */
async function twoFullNodes(): Promise<Awaited<ReturnType<typeof cluster>>> {
  const scene = await cluster({
    behaviours: [...controlPlane, ...workloads({ startDelay: 100, terminationDelay: 100 })],
  });
  addNodes(scene.world, "old", 2);
  for (let index = 0; index < 12; index += 1) addWorkload(scene.world, `press-${index}`, 1, `${400 + 10 * index}m`);
  await available(scene.world, 12);
  addNodes(scene.world, "new", 4);
  return scene;
}

test.concurrent(
  "a dry run names every pod that is evicted over several waves, and no other",
  async () => {
    await using scene = await twoFullNodes();
    const { world, evicted } = scene;
    const { items } = await read<{ readonly items: readonly Pod[] }>(world, PODS);
    const nodeOf = new Map(items.map(({ metadata, spec }) => [metadata.name, spec.nodeName]));
    load(world, policy("default", { ...ALL, targetSigma: 0.05, dryRun: true }));
    const service = world.serve(["--sync-period=200ms"]);
    const planned = await eventually(async () => {
      const pods = await plannedPods(service);
      expect(pods.length).toBeGreaterThan(0);
      return pods;
    }, 60_000);
    // One pod of a node at a time: so many waves.
    const bySource = [...Map.groupBy(planned, (pod) => nodeOf.get(pod)).values()];
    expect(Math.max(...bySource.map(({ length }) => length))).toBeGreaterThan(2);
    expect(evicted).toEqual([]);
    await endDryRun(world);
    await eventually(() => expect(evicted.length).toBeGreaterThanOrEqual(planned.length), 120_000);
    // The last replacements are ready, and were seen by some plans more.
    await available(world, 12);
    const plans = () => metric(service, /^rebalancer_plan_seconds_count (\d+)$/m);
    const before = await plans();
    await eventually(async () => {
      expect(await plans()).toBeGreaterThan(before + 3);
      const reached = expect.objectContaining({ type: "Ready", reason: "TargetReached" }) as unknown;
      expect(await statusOf(world, "default")).toMatchObject({
        status: { conditions: expect.arrayContaining([reached]) as unknown },
      });
    }, 60_000);
    expect([...evicted].sort()).toEqual([...planned].sort());
  },
  240_000,
);

// Last, and alone: evictions of one round have to overlap.
test("a budget that allows 10 disruptions has 40 pods moved, of which at most 10 are away at any time", async () => {
  const behaviours = [...controlPlane, ...workloads({ startDelay: 2000, terminationDelay: 100 })];
  await using scene = await cluster({ behaviours });
  const { world, evicted } = scene;
  addNodes(world, "old", 20);
  for (let index = 0; index < 20; index += 1) addWorkload(world, `press-${index}`, 3, "1");
  load(world, {
    ...{ apiVersion: "policy/v1", kind: "PodDisruptionBudget", metadata: { name: "press", namespace: "default" } },
    spec: { maxUnavailable: 10, selector: { matchLabels: { tier: "press" } } },
  });
  const before = await available(world, 60);
  addNodes(world, "new", 40);
  using watching = disposable();
  const fewest = fewestAvailable(world, 60, watching.signal);
  // Three pods on each old node, and one on each of all nodes at the end: 40 move.
  load(world, policy("default", { ...ALL, dryRun: false }));
  world.serve(["--sync-period=200ms"]);
  await eventually(async () => {
    expect(evicted).toHaveLength(40);
    const converged = expect.objectContaining({ type: "Converged", status: "True" }) as unknown;
    expect(await statusOf(world, "default")).toMatchObject({
      status: { conditions: expect.arrayContaining([converged]) as unknown },
    });
  }, 150_000);
  const after = await available(world, 60);
  watching.abort();
  expect(new Set(after.map(({ spec }) => spec.nodeName)).size).toBe(60);
  const left = new Set(after.map(({ metadata }) => metadata.uid));
  expect(before.filter(({ metadata }) => !left.has(metadata.uid))).toHaveLength(40);
  // Fewer than 10 at a time would leave room unused.
  expect(await fewest).toBe(50);
  expect(new Set(evicted).size).toBe(40);
}, 240_000);
