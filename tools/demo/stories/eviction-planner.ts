import { deployments, nodes, pods } from "@evenkeel/kube";
import { rebalancePolicies, type StoredPolicy } from "@evenkeel/eviction-planner";
import { simNode } from "@evenkeel/sim";
import type { Check, Control, Scene, Stage, Story } from "../src/story.ts";

const POLICY = { name: "berths" };
const POOL = { pool: "berths" };
const TAINT = { key: "pool", value: "berths", effect: "NoSchedule" };
const PRESS = { namespace: "default", name: "press" };
const REPLICAS = 7;

/** One node took every pod of a workload, because it was the only one. Nodes that join later stay empty. */
const story: Story = {
  service: "eviction-planner",
  about:
    "A node is hot, because the other nodes joined late. The plan says which pods to move, where they would land, and why others stay",
  open: (stage) => Promise.resolve(new Berths(stage)),
};

export default story;

class Berths implements Scene {
  readonly flags = ["--sync-period=2s"];
  readonly env = {};
  readonly controls: readonly Control[] = [
    {
      name: "node",
      label: "Another node joins",
      run: async () => `the node ${await this.#join()} joined`,
    },
    {
      name: "pin",
      label: "A user pins a pod",
      run: async () => `${await this.#pin()} must stay where it is`,
    },
    {
      name: "evict",
      label: "The dry run ends",
      run: async () => {
        await this.#carryOut();
        return "pods are evicted from the hot node, wave by wave";
      },
    },
  ];
  readonly checks: readonly Check[] = [
    {
      name: "a node that has nowhere to move its pods is hot, and the policy says that nothing helps",
      act: () => this.#create(),
      outcome: async () => {
        const { plan } = await this.#status();
        if (plan?.hotNodes !== 1 || plan.evictionsPlanned !== 0) throw new Error(`the plan is ${JSON.stringify(plan)}`);
      },
    },
    {
      name: "when nodes join, the plan moves pods to them and foretells how level the nodes become",
      act: async () => {
        await this.#join();
        await this.#join();
      },
      outcome: async () => {
        const { plan } = await this.#status();
        const { evictionsPlanned = 0, sigma = 0, predicted = 1, lowerBound = 1 } = plan ?? {};
        if (evictionsPlanned === 0 || predicted >= sigma || lowerBound > predicted)
          throw new Error(`the plan is ${JSON.stringify(plan)}`);
      },
    },
    {
      name: "a dry run evicts nothing: every pod is still on the first node",
      outcome: async () => {
        const { items } = await this.#stage.kube.resource(pods).list({ ...PRESS, labelSelector: "app=press" });
        const there = items.filter(({ spec }) => spec?.nodeName === "berth-1").length;
        if (there !== REPLICAS) throw new Error(`${there} of ${REPLICAS} pods are on berth-1`);
      },
    },
    {
      name: "a pinned pod stays, and the plan says why",
      act: async () => {
        await this.#pin();
      },
      outcome: async () => {
        const { plan } = await this.#status();
        if (plan?.blocked?.["Pinned"] !== 1) throw new Error(`blocked is ${JSON.stringify(plan?.blocked)}`);
      },
    },
    {
      name: "with dryRun: false pods leave the hot node one at a time, until it is not hot and the rest stays",
      act: () => this.#carryOut(),
      outcome: async () => {
        const { plan } = await this.#status();
        if (plan?.hotNodes !== 0 || plan.dryRun !== false || plan.lastExecutionTime === undefined)
          throw new Error(`the plan is ${JSON.stringify(plan)}`);
      },
    },
  ];
  readonly #stage: Stage;
  #nodes = 0;

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  play(): () => void {
    const begin = async () => {
      await this.#create();
      await this.#join();
      await this.#join();
    };
    void begin().catch((error: unknown) => this.#stage.tell(`the berths could not be made: ${String(error)}`));
    return () => undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  async #create(): Promise<void> {
    const { kube } = this.#stage;
    await this.#join();
    const labels = { app: "press", rebalancer: "ok" };
    const resources = { requests: { cpu: "500m", memory: "1Gi" } };
    await kube.resource(deployments).create({
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: PRESS,
      spec: {
        replicas: REPLICAS,
        selector: { matchLabels: { app: "press" } },
        template: {
          metadata: { labels },
          spec: {
            nodeSelector: POOL,
            tolerations: [{ key: TAINT.key, operator: "Exists" }],
            containers: [{ name: "main", image: "images.invalid/press:1", resources }],
          },
        },
      },
    });
    const { group, version, kind } = rebalancePolicies;
    await kube.resource(rebalancePolicies).create({
      apiVersion: `${group}/${version}`,
      kind,
      metadata: POLICY,
      spec: { basis: "requests", workloadSelectors: [{ matchLabels: { rebalancer: "ok" } }] },
    });
  }

  async #join(): Promise<string> {
    const name = `berth-${++this.#nodes}`;
    const node = simNode(name, { cpu: "4", memory: "8Gi", pods: 40, labels: POOL, taints: [TAINT] });
    await this.#stage.kube.resource(nodes).create(node);
    return name;
  }

  /** Gives the name of the pod. */
  async #pin(): Promise<string> {
    const resource = this.#stage.kube.resource(pods);
    const { items } = await resource.list({ namespace: PRESS.namespace, labelSelector: "app=press" });
    const free = items.find(({ metadata }) => metadata.annotations?.["rebalancer.dev/pinned"] !== "true");
    if (free === undefined) throw new Error("every pod is pinned");
    const { name = "" } = free.metadata;
    const body = { metadata: { annotations: { "rebalancer.dev/pinned": "true" } } };
    await resource.patch({ namespace: PRESS.namespace, name }, { type: "merge", body });
    return name;
  }

  async #carryOut(): Promise<void> {
    const body = { spec: { dryRun: false, maxEvictionsPerMinute: 60 } };
    await this.#stage.kube.resource(rebalancePolicies).patch(POLICY, { type: "merge", body });
  }

  async #status(): Promise<NonNullable<StoredPolicy["status"]>> {
    const { status = {} } = await this.#stage.kube.resource(rebalancePolicies).get(POLICY);
    return status;
  }
}
