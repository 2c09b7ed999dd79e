import { eventually } from "@evenkeel/runtime/testing";
import { expect, test } from "@jest/globals";
import { configuration, fleetWorld, loadBalancer, statefulSet, staticFleet } from "./fleet-world.ts";

const LABELS = {
  "app.kubernetes.io/managed-by": "collector-load-balancer",
  "app.kubernetes.io/instance": "default__sample",
};

/** A StatefulSet as the original makes it. */
const originalSet = {
  apiVersion: "apps/v1",
  kind: "StatefulSet",
  metadata: { name: "sample-collector", namespace: "default", labels: LABELS },
  spec: {
    replicas: 3,
    selector: { matchLabels: LABELS },
    template: {
      metadata: { labels: LABELS },
      spec: {
        containers: [
          {
            name: "aoc2",
            image: "clbotelcol:latest",
            imagePullPolicy: "Always",
            env: [
              { name: "AOT_CONFIG_CONTENT", value: "old" },
              { name: "AWS_REGION", value: "us-west-2" },
            ],
            ports: [{ containerPort: 8520 }, { containerPort: 8521 }],
          },
        ],
      },
    },
  },
};

interface SetFields {
  readonly metadata: { readonly uid: string; readonly generation: number };
  readonly spec: {
    readonly replicas: number;
    readonly template: {
      readonly spec: {
        readonly containers: readonly { readonly image: string; readonly env: readonly { readonly name: string }[] }[];
      };
    };
  };
}

const condition = (type: string, status: string, reason: string) =>
  expect.arrayContaining([expect.objectContaining({ type, status, reason })]) as unknown;

test("the original's StatefulSet is taken over in place, and only after its Lease has expired", async () => {
  await using world = await fleetWorld();
  world.load(originalSet);
  world.load({
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: { name: "1a1a21bb.k8s.aws", namespace: "default" },
    spec: { holderIdentity: "original", leaseDurationSeconds: 12, renewTime: new Date().toISOString() },
  });
  world.load(staticFleet("sample", 6));
  const { metadata: before } = await world.read<SetFields>(statefulSet("sample"));
  world.serve();
  await eventually(async () =>
    expect(await world.read(loadBalancer("sample"))).toMatchObject({
      status: { conditions: condition("Ready", "False", "OriginalRuns") },
    }),
  );
  expect((await world.read<SetFields>(statefulSet("sample"))).metadata.generation).toBe(before.generation);

  await eventually(async () => {
    const { metadata, spec } = await world.read<SetFields>(statefulSet("sample"));
    expect(metadata.uid).toBe(before.uid);
    const [container] = spec.template.spec.containers;
    expect(container?.image).toBe("collector:1");
    expect(container?.env.map(({ name }) => name).sort()).toEqual(["AOT_CONFIG_CONTENT", "AWS_REGION", "POD_NAME"]);
  }, 40_000);
}, 60_000);

test("somebody who rewrites the StatefulSet twice gets it, and the object says so", async () => {
  await using world = await fleetWorld();
  world.load(staticFleet("sample", 6));
  world.serve();
  const image = async () =>
    (await world.read<SetFields>(statefulSet("sample"))).spec.template.spec.containers[0]?.image;
  const rewrite = () =>
    world.patch(statefulSet("sample"), {
      spec: { template: { spec: { containers: [{ name: "aoc2", image: "rival:1" }] } } },
    });
  await eventually(async () => expect(await image()).toBe("collector:1"), 20_000);
  for (let round = 0; round < 2; round++) {
    expect(await rewrite()).toBe(200);
    await eventually(async () => expect(await image()).toBe("collector:1"), 10_000);
  }
  expect(await rewrite()).toBe(200);
  await eventually(async () =>
    expect(await world.read(loadBalancer("sample"))).toMatchObject({
      status: { conditions: condition("Ready", "False", "Contested") },
    }),
  );
  expect(await image()).toBe("rival:1");
}, 60_000);

test("a job that cannot be used is named and stops no other, and a password is in no answer", async () => {
  await using world = await fleetWorld();
  const good = { job_name: "good", basic_auth: { username: "u", password: "hunter2" }, static_configs: [] };
  const bad = { job_name: "bad", consul_sd_configs: [{}] };
  world.load(staticFleet("sample", 0, { collectorConfig: configuration([good, bad]), replicas: 1 }));
  const service = world.serve();
  await eventually(async () =>
    expect(await world.read(loadBalancer("sample"))).toMatchObject({
      status: {
        conditions: expect.arrayContaining([
          expect.objectContaining({
            type: "ConfigValid",
            status: "False",
            message: expect.stringMatching(/prometheus\/bad.*consul_sd_configs/),
          }),
        ]),
      },
    }),
  );
  const text = await (await fetch(await service.url("targets", "/scrape_configs"))).text();
  expect(Object.keys(JSON.parse(text) as object)).toEqual(["good"]);
  expect(text).not.toContain("hunter2");
  const { data } = await world.read<{ data: Record<string, string> }>(
    "api/v1/namespaces/default/secrets/sample-collector",
  );
  expect(Object.values(data)).toEqual([Buffer.from("hunter2").toString("base64")]);

  const unknown = await fetch(await service.url("targets", "/jobs/bad/targets?collector_id=x"));
  expect([unknown.status, unknown.headers.get("content-type")]).toEqual([404, "text/plain; charset=utf-8"]);
}, 60_000);
