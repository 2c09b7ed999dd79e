import { eventually } from "@evenkeel/runtime/testing";
import { expect, test } from "@jest/globals";
import { originalSet } from "../e2e/original-set.ts";
import { configuration, fleetWorld, loadBalancer, statefulSet, staticFleet } from "./fleet-world.ts";

interface SetFields {
  readonly metadata: { readonly uid: string; readonly generation: number };
  readonly spec: {
    readonly replicas: number;
    readonly template: {
      readonly spec: {
        readonly serviceAccountName?: string;
        readonly containers: readonly { readonly image: string; readonly env: readonly { readonly name: string }[] }[];
      };
    };
  };
}

const condition = (type: string, status: string, reason: string) =>
  expect.arrayContaining([expect.objectContaining({ type, status, reason })]) as unknown;

test.concurrent(
  "the original's StatefulSet is taken over in place, and only after its Lease has expired",
  async () => {
    await using world = await fleetWorld();
    world.load(originalSet("sample", 3));
    world.load({
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: { name: "1a1a21bb.k8s.aws", namespace: "default" },
      spec: { holderIdentity: "original", leaseDurationSeconds: 5, renewTime: new Date().toISOString() },
    });
    world.load(staticFleet("sample", 6));
    const { metadata: before } = await world.read<SetFields>(statefulSet("sample"));
    await world.ready();
    await eventually(
      async () =>
        expect(await world.read(loadBalancer("sample"))).toMatchObject({
          status: { conditions: condition("Ready", "False", "OriginalRuns") },
        }),
      30_000,
    );
    expect((await world.read<SetFields>(statefulSet("sample"))).metadata.generation).toBe(before.generation);

    await eventually(async () => {
      const { metadata, spec } = await world.read<SetFields>(statefulSet("sample"));
      expect(metadata.uid).toBe(before.uid);
      const [container] = spec.template.spec.containers;
      expect(container?.image).toBe("collector:1");
      expect(container?.env.map(({ name }) => name).sort()).toEqual(["AOT_CONFIG_CONTENT", "AWS_REGION", "POD_NAME"]);
      // The pods may have rights by it.
      expect(spec.template.spec.serviceAccountName).toBeUndefined();
    }, 40_000);
  },
  120_000,
);

test.concurrent(
  "somebody who rewrites the StatefulSet twice gets it, and the object says so",
  async () => {
    await using world = await fleetWorld();
    world.load(staticFleet("sample", 6));
    await world.ready();
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
    await eventually(
      async () =>
        expect(await world.read(loadBalancer("sample"))).toMatchObject({
          status: { conditions: condition("Ready", "False", "Contested") },
        }),
      30_000,
    );
    expect(await image()).toBe("rival:1");
  },
  120_000,
);

test.concurrent(
  "a job that cannot be used is named and stops no other, and a password is in no answer",
  async () => {
    await using world = await fleetWorld();
    const good = { job_name: "good", basic_auth: { username: "u", password: "hunter2" }, static_configs: [] };
    const bad = { job_name: "bad", consul_sd_configs: [{}] };
    world.load(staticFleet("sample", 0, { collectorConfig: configuration([good, bad]), replicas: 1 }));
    const service = await world.ready();
    await eventually(
      async () =>
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
      30_000,
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
  },
  120_000,
);

test.concurrent(
  "an object of somebody else with the name of a collector's is neither changed nor deleted",
  async () => {
    await using world = await fleetWorld();
    const path = "api/v1/namespaces/default/configmaps/sample-collector";
    const theirs = {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "sample-collector", namespace: "default" },
    };
    world.load({ ...theirs, data: { key: "theirs" } });
    world.load(staticFleet("sample", 6));
    await world.ready();
    await eventually(
      async () =>
        expect(await world.read(loadBalancer("sample"))).toMatchObject({
          status: { conditions: condition("Ready", "False", "NameTaken") },
        }),
      30_000,
    );
    expect(await world.read(path)).toMatchObject({ data: { key: "theirs" } });
    expect(await world.read(path)).not.toHaveProperty("metadata.ownerReferences");
    expect(await world.read(statefulSet("sample"))).toMatchObject({ code: 404 });

    await world.remove(path);
    await eventually(
      async () => expect((await world.read<SetFields>(statefulSet("sample"))).spec.replicas).toBe(3),
      20_000,
    );
  },
  120_000,
);
