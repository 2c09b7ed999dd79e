import { stat } from "node:fs/promises";
import { join } from "node:path";
import { waitUntil } from "@evenkeel/control-plane";
import { apply, kubectl, TEST_TIMEOUT_MS, useCluster } from "@evenkeel/e2e";
import { connectKube, type CSINode, csiNodes, type KubeClient, type Node, nodes } from "@evenkeel/kube";
import { nodeFacts, type PodLookups } from "@evenkeel/placement";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { csiNode, randomNode } from "../src/placement/nodes.ts";
import { randomPod, VOLUMES } from "../src/placement/pods.ts";
import { SeededRandom } from "../src/placement/random.ts";
import { type LandingComparison, Replay } from "../src/placement/replay.ts";
import { scheduleOneByOne, type ScheduledPod } from "../src/placement/scheduled-pods.ts";
import { readSchedulerLog } from "../src/placement/scheduler-log.ts";
import { volume } from "../src/placement/volumes.ts";

const PODS = 300;
/** A machine that is busy with other tests takes several times as long as an idle one. */
const ROUND_TIMEOUT_MS = 2 * TEST_TIMEOUT_MS;
const namespaces = { default: {}, shop: { team: "shop" } };
/** Services, whose selectors stand for that of an owner: the scheduler spreads their pods by default. */
const services = [
  { namespace: "default", app: "web" },
  { namespace: "default", app: "cache" },
  { namespace: "shop", app: "api" },
];
const volumes = Array.from({ length: VOLUMES }, (_, index) => volume(index));
const random = new SeededRandom(20);

const cluster = useCluster({ name: "placement", nodes: 0, schedulerFlags: ["--v=10", "--logging-format=json"] });
let kube: KubeClient;
const earlier: ScheduledPod[] = [];

beforeAll(async () => {
  const settings = {
    ...{ kubeconfig: cluster().kubeconfig, kubeContext: undefined, kubeDeadline: 30_000 },
    ...{ kubeConnections: 4, kubeQps: 0, kubeBurst: 1 },
  };
  kube = connectKube({ settings, env: {}, userAgent: "placement" });
  await apply(
    cluster(),
    { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop", labels: namespaces.shop } },
    ...volumes.flatMap((one) => [one.volume, one.claim]),
    ...services.map(({ namespace, app }) => ({
      ...{ apiVersion: "v1", kind: "Service", metadata: { namespace, name: app } },
      spec: { selector: { app }, ports: [{ port: 80 }] },
    })),
  );
  await kubectl(cluster(), ["wait", "pvc", "--all", "--for=jsonpath={.status.phase}=Bound", "--timeout=60s"]);
}, TEST_TIMEOUT_MS);

afterAll(() => kube.stop());

function lookups({ metadata }: ScheduledPod["pod"]): PodLookups {
  const { namespace = "", labels = {} } = metadata;
  const service = services.find((one) => one.namespace === namespace && one.app === labels["app"]);
  const named = (name: string) => volumes[Number(name.replace("volume-", ""))];
  return {
    claim: (_, name) => named(name)?.claim,
    volume: (name) => named(name)?.volume,
    ownerSelector: service === undefined ? null : { matchLabels: { app: service.app } },
  };
}

/** Adds nodes up to `count`, and resolves with all of them in the order of their creation once each takes pods. */
async function growTo(count: number): Promise<readonly Node[]> {
  const { items: before } = await kube.resource(nodes).list();
  for (let index = before.length; index < count; index++) {
    await kube.resource(csiNodes).create(csiNode(`node-${index}`) as CSINode);
    await kube.resource(nodes).create(randomNode(index, random) as Node);
  }
  await waitUntil("all nodes settled", async () => {
    const { items } = await kube.resource(nodes).list();
    const unsettled = items.find((node) => !isSettled(node));
    return unsettled === undefined ? undefined : `${unsettled.metadata.name} is not ready`;
  });
  const { items } = await kube.resource(nodes).list();
  // The scheduler counts the nodes that have an image when it hears of a node, as it does every few minutes of a real
  // one.
  const heartbeat = { type: "merge", body: { metadata: { annotations: { heard: String(count) } } } } as const;
  await Promise.all(items.map(({ metadata }) => kube.resource(nodes).patch({ name: metadata.name ?? "" }, heartbeat)));
  const number = ({ metadata }: Node) => Number(metadata.name?.replace("node-", ""));
  return items.toSorted((one, other) => number(one) - number(other));
}

/** Its conditions no longer change: it is ready, and the taints that follow from its state are as they stay. */
function isSettled({ spec, status }: Node): boolean {
  const has = (taint: string) => spec?.taints?.some(({ key }) => key === `node.kubernetes.io/${taint}`) ?? false;
  const isReady = status?.conditions?.some((condition) => condition.type === "Ready" && condition.status === "True");
  return isReady === true && !has("not-ready") && has("unschedulable") === (spec?.unschedulable ?? false);
}

async function compare(
  count: number,
): Promise<{ differences: readonly string[]; landings: readonly LandingComparison[] }> {
  const grown = await growTo(count);
  const schedulerLog = join(cluster().logs, "kube-scheduler.log");
  const manifests = Array.from({ length: PODS }, (_, index) => randomPod(`pod-${count}-${index}`, random));
  const { size: start } = await stat(schedulerLog);
  const scheduled = await scheduleOneByOne(kube, manifests);
  const log = await readSchedulerLog(schedulerLog, start);
  const facts = grown.map((node) => nodeFacts(node, csiNode(node.metadata.name ?? "")));
  const replay = new Replay({ nodes: facts, namespaces, lookups, log });
  for (const pod of earlier) replay.add(pod);
  earlier.push(...scheduled);
  const compared = scheduled.map((pod) => replay.compare(pod));
  return {
    differences: compared.flatMap(({ differences }) => differences),
    landings: compared.flatMap(({ landing }) => landing ?? []),
  };
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
const share = (landings: readonly LandingComparison[], is: (landing: LandingComparison) => boolean): number =>
  mean(landings.map((landing) => (is(landing) ? 1 : 0)));

function report(count: number, landings: readonly LandingComparison[]): void {
  const figures = {
    pods: landings.length,
    best: share(landings, ({ isBest }) => isBest),
    likely: share(landings, ({ isLikely }) => isLikely),
    brier: mean(landings.map(({ brier }) => brier)),
    feasible: mean(landings.map(({ feasible }) => feasible)),
  };
  process.stderr.write(`  placement on ${count} nodes: ${JSON.stringify(figures)}\n`);
}

describe("the model of the scheduler agrees with kube-scheduler", () => {
  test(
    "on 20 nodes in feasible nodes and all scores, and the pod goes to a node with the best score",
    async () => {
      const { differences, landings } = await compare(20);
      report(20, landings);
      expect(differences).toEqual([]);
      expect(landings.length).toBeGreaterThan(0.7 * PODS);
      expect(share(landings, ({ isBest }) => isBest)).toBeGreaterThanOrEqual(0.95);
    },
    ROUND_TIMEOUT_MS,
  );

  test(
    "on 150 nodes, of which it scores 100, and the pod goes to one of the likely nodes",
    async () => {
      const { differences, landings } = await compare(150);
      report(150, landings);
      expect(differences).toEqual([]);
      expect(landings.length).toBeGreaterThan(0.9 * PODS);
      expect(share(landings, ({ isLikely }) => isLikely)).toBeGreaterThanOrEqual(0.85);
    },
    ROUND_TIMEOUT_MS,
  );
});
