import { eventually } from "@evenkeel/runtime/testing";
import { type Behaviour, controlPlane, scheduling, simNode, workloads } from "@evenkeel/sim";
import { World, worldParts } from "@evenkeel/testkit";
import { expect, test } from "@jest/globals";
import { load, main, metric, nodesOf, policy, statusOf } from "./hot-spot.ts";

const kinds = ["rebalancepolicies", "workloadsloes", "nodeclasses"];
const NODES = 6;
/** Pods that fit on a node. */
const MOST = 8;
const PODS = 36;

type Stored = Parameters<Parameters<Parameters<Behaviour>[0]["store"]["listen"]>[0]>[1]["object"];

const specOf = (pod: Stored): { readonly nodeName?: string } => pod["spec"] as { readonly nodeName?: string };
const nodeOf = (pod: Stored): string | undefined => specOf(pod).nodeName;

/** A scheduler that spreads pods over nodes at first. Then it packs them: it takes the fullest node that has room. */
class PackingScheduler {
  packs = false;

  readonly behaviour: Behaviour = ({ store, clock }) => {
    const [pods, nodes] = [store.table("/pods"), store.table("/nodes")];
    const place = (): void => {
      const present = pods.objects().filter(({ metadata }) => metadata.deletionTimestamp === undefined);
      for (const pod of present.filter((each) => nodeOf(each) === undefined)) {
        const counts = nodes.objects().map(({ metadata: { name } }) => ({
          name,
          count: pods.objects().filter((each) => nodeOf(each) === name).length,
        }));
        const open = counts.filter(({ count }) => count < MOST).sort((one, other) => one.count - other.count);
        const nodeName = (this.packs ? open.at(-1) : open[0])?.name;
        if (nodeName !== undefined) store.put(pods, { ...pod, spec: { ...specOf(pod), nodeName } });
      }
    };
    return store.listen((table, { type, object }) => {
      if (table.name === "/pods" && type === "ADDED" && nodeOf(object) === undefined) clock.schedule(0, place);
    });
  };
}

function workload(name: string): object {
  const resources = { requests: { cpu: "500m", memory: "1Gi" } };
  const template = {
    metadata: { labels: { app: name } },
    spec: { containers: [{ name: "main", image: "a:1", resources }] },
  };
  return {
    ...{ apiVersion: "apps/v1", kind: "Deployment", metadata: { name, namespace: "default" } },
    spec: { replicas: 1, selector: { matchLabels: { app: name } }, template },
  };
}

test("under a scheduler that packs nodes, landings are not trusted within 50 evictions, and nothing is evicted after it", async () => {
  const scheduler = new PackingScheduler();
  const others = workloads({ startDelay: 50, terminationDelay: 50 }).filter((each) => each !== scheduling);
  const evictions: string[] = [];
  const server = {
    behaviours: [...controlPlane, ...others, scheduler.behaviour],
    audit: ({ method, url }: { readonly method: string; readonly url: string }) => {
      if (method === "POST" && url.includes("/eviction")) evictions.push(url);
    },
  };
  await using world = new World(await worldParts({ service: "eviction-planner", main, kinds, server }));
  const addNode = (name: string) => load(world, simNode(name, { cpu: "4", memory: "8Gi" }));
  for (let index = 0; index < NODES; index += 1) addNode(`full-${index}`);
  for (let index = 0; index < PODS; index += 1) load(world, workload(`press-${index}`));
  // Each full node has room for two pods more.
  await eventually(async () => {
    const counts = Map.groupBy(await nodesOf(world), (node) => node ?? "none");
    expect([...counts.values()].map(({ length }) => length)).toEqual(Array<number>(NODES).fill(PODS / NODES));
  }, 30_000);
  for (let index = 0; index < NODES; index += 1) addNode(`empty-${index}`);
  scheduler.packs = true;
  const spec = { basis: "requests", dryRun: false, targetSigma: 0.001, backoffDuration: "1s" };
  load(world, policy("default", { ...spec, maxEvictionsPerMinute: 1000 }));
  const service = world.serve(["--sync-period=200ms"]);
  await eventually(async () => {
    const untrusted = expect.objectContaining({ type: "LandingTrusted", status: "False" }) as unknown;
    const held = expect.objectContaining({ type: "Ready", reason: "LandingUntrusted" }) as unknown;
    expect(await statusOf(world, "default")).toMatchObject({
      status: { conditions: expect.arrayContaining([untrusted, held]) as unknown },
    });
  }, 100_000);
  const asked = evictions.length;
  expect(asked).toBeGreaterThan(15);
  expect(asked).toBeLessThanOrEqual(50);
  const plans = () => metric(service, /^rebalancer_plan_seconds_count (\d+)$/m);
  const before = await plans();
  await eventually(async () => expect(await plans()).toBeGreaterThan(before + 5), 60_000);
  expect(evictions).toHaveLength(asked);
}, 180_000);
