import { eventually } from "@evenkeel/runtime/testing";
import { expect, test } from "@jest/globals";
import { fleetWorld, loadBalancer, settled, statefulSet, staticFleet } from "./fleet-world.ts";

const pods = (count: number) => Array.from({ length: count }, (_, index) => `sample-collector-${index}`);
const path = (collector: string) => `/jobs/shop%2Fapp/targets?collector_id=${collector}`;

test("an object becomes collectors that share its targets, and each is told its own", async () => {
  await using world = await fleetWorld();
  world.load(staticFleet("sample", 60));
  const service = world.serve();
  const owned = await settled(service, path, pods(3), 60);
  for (const own of owned.values()) expect(own.length).toBeGreaterThan(10);

  const { spec, metadata } = await world.read<StatefulSetFields>(statefulSet("sample"));
  expect(metadata.ownerReferences).toMatchObject([{ kind: "CollectorLoadBalancer", name: "sample", controller: true }]);
  expect(spec).toMatchObject({
    replicas: 3,
    selector: {
      matchLabels: {
        "app.kubernetes.io/managed-by": "collector-load-balancer",
        "app.kubernetes.io/instance": "default__sample",
      },
    },
    template: {
      spec: {
        containers: [{ name: "aoc2", image: "collector:1", args: ["--config=env:AOT_CONFIG_CONTENT"] }],
      },
    },
  });
  const jobs = await fetch(await service.url("targets", "/collectors/default/sample/scrape_configs"));
  expect(await jobs.json()).toEqual({ "shop/app": { job_name: "shop/app", scrape_interval: "1s" } });

  await eventually(async () =>
    expect(await world.read(loadBalancer("sample"))).toMatchObject({
      spec: { replicas: 3 },
      status: {
        replicas: 3,
        selector: "app.kubernetes.io/instance=default__sample,app.kubernetes.io/managed-by=collector-load-balancer",
        targets: 60,
        conditions: expect.arrayContaining([
          expect.objectContaining({ type: "Ready", status: "True", reason: "Balanced" }),
          expect.objectContaining({ type: "ConfigValid", status: "True" }),
          expect.objectContaining({ type: "TargetsDiscovered", status: "True" }),
          expect.objectContaining({ type: "StateAvailable", status: "True" }),
        ]),
      },
    }),
  );
  service.signal("SIGTERM");
  expect((await service.exit).code).toBe(0);
}, 60_000);

interface StatefulSetFields {
  readonly metadata: { readonly ownerReferences: readonly unknown[] };
  readonly spec: object;
}
