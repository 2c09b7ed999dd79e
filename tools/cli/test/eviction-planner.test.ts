import { join } from "node:path";
import { eventually } from "@evenkeel/runtime/testing";
import { controlPlane, simNode, workloads } from "@evenkeel/sim";
import { ADMIN, World, worldParts } from "@evenkeel/testkit";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { evenkeel } from "./evenkeel.ts";

const main = join(import.meta.dirname, "../../../apps/eviction-planner/src/main.ts");

/** A service that starts on a busy machine, in milliseconds. */
const START_TIMEOUT = 90_000;

let world: World;
let address: string;

const resources = { requests: { cpu: "500m", memory: "1Gi" } };
const press = {
  ...{ apiVersion: "apps/v1", kind: "Deployment", metadata: { namespace: "default", name: "press" } },
  spec: {
    ...{ replicas: 7, selector: { matchLabels: { app: "press" } } },
    template: {
      metadata: { labels: { app: "press" } },
      spec: { containers: [{ name: "main", image: "press:1", resources }] },
    },
  },
};
const policy = {
  ...{ apiVersion: "rebalancer.dev/v1", kind: "RebalancePolicy", metadata: { name: "berths" } },
  spec: { basis: "requests", targetSigma: 0.01 },
};

interface PodList {
  readonly items: readonly {
    readonly metadata: { readonly name: string };
    readonly spec: { readonly nodeName?: string };
  }[];
}

async function pods(): Promise<PodList["items"]> {
  const headers = { authorization: `Bearer ${ADMIN.token}` };
  const answer = await fetch(`${world.api.url}/api/v1/namespaces/default/pods`, { headers });
  return ((await answer.json()) as PodList).items;
}

beforeAll(async () => {
  const kinds = ["rebalancepolicies", "workloadsloes", "nodeclasses"];
  const server = { behaviours: [...controlPlane, ...workloads()] };
  world = new World(await worldParts({ service: "eviction-planner", main, kinds, server }));
  const load = (object: object) => world.api.load(JSON.stringify(object));
  load(simNode("one", { cpu: "4", memory: "8Gi" }));
  load(press);
  await eventually(async () => expect((await pods()).filter(({ spec }) => spec.nodeName === "one")).toHaveLength(7));
  for (const name of ["two", "three"]) load(simNode(name, { cpu: "4", memory: "8Gi" }));
  load(policy);
  address = await world.serve(["--sync-period=1s"]).url("admin", "");
  await eventually(async () => {
    const { stdout } = await asked("explain", "rebalancepolicy/berths");
    expect(stdout).toContain("would go from one");
  }, START_TIMEOUT);
}, START_TIMEOUT);

afterAll(() => world[Symbol.asyncDispose]());

const asked = (...args: string[]) => evenkeel([...args, `--address=${address}`]);

test("what-if with a budget tells σ of the best plan with so many evictions", async () => {
  const sigmaWith = async (budget: number) => {
    const { stdout } = await asked("what-if", "rebalancepolicy/berths", `--budget=${budget}`, "-o", "json");
    const { plan } = JSON.parse(stdout) as { readonly plan: { readonly predicted: number; readonly moves: unknown[] } };
    expect(plan.moves.length).toBeLessThanOrEqual(budget);
    return plan.predicted;
  };
  const [none, one, two] = [await sigmaWith(0), await sigmaWith(1), await sigmaWith(2)];
  expect(one).toBeLessThan(none);
  expect(two).toBeLessThan(one);
  const { stdout, code } = await asked("what-if", "rebalancepolicy/berths", "--budget=1");
  expect(code).toBe(0);
  expect(stdout).toMatch(/With 1 eviction, σ of RebalancePolicy\/berths would go from 0\.\d+ to 0\.\d+/);
  expect((await asked("what-if", "rebalancepolicy/berths", "--budget=2000")).code).toBe(2);
});

test("explain pod/<namespace>/<name> says whether the pod would move, and why", async () => {
  const [first] = await pods();
  const { stdout, code } = await asked("explain", `pod/default/${first?.metadata.name}`);
  expect(code).toBe(0);
  expect(stdout).toMatch(/87\.5 % full and hot/);
  expect((await asked("explain", "pod", "-n", "default", "nobody")).code).not.toBe(0);
  expect((await asked("explain", "pod/nobody")).code).toBe(2);
});
