import { join } from "node:path";
import { eventually } from "@evenkeel/runtime/testing";
import { controlPlane, simNode, workloads } from "@evenkeel/sim";
import { World, worldParts } from "@evenkeel/testkit";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { evenkeel } from "./evenkeel.ts";

const main = join(import.meta.dirname, "../../../apps/collector-scheduler/src/main.ts");

/** A service that starts on a busy machine, in milliseconds. */
const START_TIMEOUT = 90_000;

let world: World;
let address: string;

const jobs = [
  {
    job_name: "hosts",
    static_configs: [{ targets: Array.from({ length: 30 }, (_, index) => `10.2.0.${index}:9100`) }],
  },
  {
    job_name: "pods",
    kubernetes_sd_configs: [{ role: "pod" }],
    relabel_configs: [
      { source_labels: ["__meta_kubernetes_pod_label_app"], target_label: "app" },
      {
        ...{ source_labels: ["__meta_kubernetes_pod_annotation_prometheus_io_scrape"], action: "keep", regex: "true" },
      },
    ],
  },
];

const loadBalancer = {
  ...{
    apiVersion: "otel.k8s.aws/v1",
    kind: "CollectorLoadBalancer",
    metadata: { namespace: "default", name: "metrics" },
  },
  spec: {
    ...{ replicas: 3, collectorImage: "collector:1" },
    collectorConfig: JSON.stringify({ receivers: { prometheus: { config: { scrape_configs: jobs } } } }),
  },
};

const web = {
  ...{ apiVersion: "v1", kind: "Pod", metadata: { namespace: "default", name: "web-0", labels: { app: "web" } } },
  spec: { containers: [{ name: "web", image: "web", ports: [{ containerPort: 8080 }] }] },
};

beforeAll(async () => {
  world = new World(
    await worldParts({
      ...{ service: "collector-scheduler", main, kinds: ["collectorloadbalancers"] },
      flags: { "target-port": "0", interval: "1s" },
      server: { behaviours: [...controlPlane, ...workloads()] },
    }),
  );
  for (const object of [simNode("one", { cpu: "64", memory: "64Gi" }), web, loadBalancer]) {
    world.api.load(JSON.stringify(object));
  }
  address = await world.serve().url("admin", "");
  await eventually(async () => {
    const { stdout } = await asked("what-if", "collectorloadbalancer/default/metrics", "--replicas=3");
    expect(stdout).toContain("stay 3");
  }, START_TIMEOUT);
}, START_TIMEOUT);

afterAll(() => world[Symbol.asyncDispose]());

const asked = (...args: string[]) => evenkeel([...args, `--address=${address}`]);
const explain = (...args: string[]) => asked("explain", "collectorloadbalancer", "default/metrics", ...args);

test("an object is explained with its collectors and their loads", async () => {
  // The loads are shown at the end of the pass in which the collectors joined.
  await eventually(async () => {
    const { code, stdout } = await explain();
    expect(code).toBe(0);
    expect(stdout).toMatch(/^ {2}metrics-collector-0 has \d+ targets and a load of /m);
  });
});

test("a target that no job keeps is explained with the rule that drops it", async () => {
  const { code, stdout, stderr } = await explain("--target=default/web-0");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toMatch(/^ {2}No job keeps it\. Job prometheus\/pods came nearest: relabel_configs\[1\]/m);
  expect(stdout).toMatch(/^ {2}- relabel_configs\[0\] sets .*app="web"/m);
  expect(stdout).toMatch(/^ {2}- relabel_configs\[1\] drops it: .*prometheus_io_scrape/m);
});

test("a target that is scraped is explained with its collector, also as JSON", async () => {
  expect((await explain("--target=10.2.0.7:9100")).stdout).toMatch(/10\.2\.0\.7:9100 .*by metrics-collector-\d/);
  const { stdout } = await explain("--target=10.2.0.7:9100", "-o", "json");
  expect(JSON.parse(stdout)).toMatchObject({
    ...{ service: "collector-scheduler", object: "CollectorLoadBalancer/default/metrics", sightingCount: 1 },
    sightings: [{ job: "prometheus/hosts", kept: { ownership: { owner: expect.stringMatching(/^metrics-/) } } }],
  });
});

test("another number of collectors is simulated", async () => {
  const { code, stdout } = await asked("what-if", "collectorloadbalancer", "default/metrics", "--replicas=4");
  expect(code).toBe(0);
  expect(stdout).toMatch(/the number of collectors of CollectorLoadBalancer\/default\/metrics would go from 3 to 4\./);
  expect(stdout).toMatch(/\d+ of 30 targets \(\d+\.\d % of the load\) would move/);
  const { stdout: json } = await asked(
    ...["what-if", "collectorloadbalancer/default/metrics", "--replicas=4", "-o", "json"],
  );
  expect(JSON.parse(json)).toMatchObject({ before: 3, after: 4, plan: { after: { targets: 30 } } });
});

test("--target is refused for another kind, and what-if without --replicas", async () => {
  expect((await asked("explain", "rebalance/shop/a", "--target=a")).code).toBe(2);
  expect((await asked("what-if", "collectorloadbalancer/default/metrics")).code).toBe(2);
});
