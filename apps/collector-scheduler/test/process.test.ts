import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { get } from "node:https";
import { join } from "node:path";
import type { CollectorLoadBalancerStatus } from "@evenkeel/api";
import { eventually } from "@evenkeel/runtime/testing";
import type { Fault } from "@evenkeel/sim";
import { expect, test } from "@jest/globals";
import { fleetWorld, loadBalancer, settled, statefulSet, staticFleet } from "./fleet-world.ts";

const pods = (count: number) => Array.from({ length: count }, (_, index) => `sample-collector-${index}`);
const path = (collector: string) => `/jobs/shop%2Fapp/targets?collector_id=${collector}`;

test.concurrent(
  "an object becomes collectors that share its targets, and each is told its own",
  async () => {
    await using world = await fleetWorld();
    world.load(staticFleet("sample", 60));
    const service = await world.ready();
    const owned = await settled(service, path, pods(3), 60);
    for (const own of owned.values()) expect(own.length).toBeGreaterThan(10);

    const { spec, metadata } = await world.read<StatefulSetFields>(statefulSet("sample"));
    expect(metadata.ownerReferences).toMatchObject([
      { kind: "CollectorLoadBalancer", name: "sample", controller: true },
    ]);
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

    await eventually(
      async () =>
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
      30_000,
    );
    service.signal("SIGTERM");
    expect((await service.exit).code).toBe(0);
  },
  120_000,
);

interface StatefulSetFields {
  readonly metadata: { readonly ownerReferences: readonly unknown[] };
  readonly spec: object;
}

test.concurrent(
  "over TLS, collectors get the CA and the target API has the service's certificate",
  async () => {
    await using world = await fleetWorld();
    const [cert, key] = [join(world.folder, "tls.crt"), join(world.folder, "tls.key")];
    const form = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
    const names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"];
    execFileSync("openssl", ["req", "-x509", ...form, ...names, "-keyout", key, "-out", cert], { stdio: "pipe" });
    world.load(staticFleet("sample", 6));
    const files = [`--tls-cert-file=${cert}`, `--tls-key-file=${key}`, `--tls-ca-file=${cert}`];
    const service = await world.ready(["--insecure=false", ...files]);

    const url = (await service.url("targets", "/jobs")).replace("http:", "https:");
    await eventually(async () => expect(await statusOf(url, readFileSync(cert))).toBe(200));
    await eventually(async () => {
      const { data } = await world.read<{ data: Record<string, string> }>(
        "api/v1/namespaces/default/configmaps/sample-collector",
      );
      expect(data["ca.crt"]).toBe(readFileSync(cert, "utf8"));
      expect(data["collector.yaml"]).toContain("ca_file: /etc/evenkeel/collector/ca.crt");
    });
    await eventually(
      async () =>
        expect(await world.read(statefulSet("sample"))).toMatchObject({
          spec: { template: { spec: { volumes: [{ configMap: { name: "sample-collector" } }] } } },
        }),
      30_000,
    );
  },
  120_000,
);

function statusOf(url: string, ca: Buffer): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    get(url, { ca }, (answer) => resolve(answer.resume().statusCode)).on("error", reject);
  });
}

const scale = { enabled: true, expected_targets_per_collector: 10, min_replicas: 1, max_replicas: 5 };

test.concurrent(
  "an autoscaler of an object that scales itself is named, and is no fault once the object does not",
  async () => {
    await using world = await fleetWorld();
    world.load(staticFleet("sample", 20, { scale }));
    world.load({
      apiVersion: "autoscaling/v2",
      kind: "HorizontalPodAutoscaler",
      metadata: { name: "rival", namespace: "default" },
      spec: {
        maxReplicas: 5,
        scaleTargetRef: { apiVersion: "otel.k8s.aws/v1", kind: "CollectorLoadBalancer", name: "sample" },
      },
    });
    await world.ready();
    const scaling = (status: string, reason: string) =>
      eventually(async () =>
        expect(await world.read(loadBalancer("sample"))).toMatchObject({
          status: {
            conditions: expect.arrayContaining([expect.objectContaining({ type: "ScalingValid", status, reason })]),
          },
        }),
      );
    await scaling("False", "AutoscalerIgnored");
    expect(await world.patch(loadBalancer("sample"), { spec: { scale: { enabled: false } } })).toBe(200);
    await scaling("True", "Valid");
  },
  120_000,
);

test.concurrent.each<[string, Fault]>([
  ["answers 500", { kind: "status", code: 500 }],
  ["hangs", { kind: "hang" }],
])(
  "a webhook for StatefulSets that %s makes the object not ready until it answers, and nothing else changes",
  async (_what, fault) => {
    await using world = await fleetWorld();
    world.load(staticFleet("sample", 6, { replicas: 2 }));
    const service = await world.ready(["--kube-deadline=1s"]);
    await settled(service, path, pods(2), 6);
    const ready = (status: string, reason: unknown) =>
      eventually(async () => {
        const object = await world.read<{ readonly status: CollectorLoadBalancerStatus }>(loadBalancer("sample"));
        const condition = object.status.conditions?.find(({ type }) => type === "Ready");
        expect(condition).toMatchObject({ status, reason });
        return { ...object.status, condition };
      }, 30_000);
    const before = await ready("True", "Balanced");
    const mend = world.faults.add({ verb: "patch", resource: "statefulsets", fault });
    expect(await world.patch(loadBalancer("sample"), { spec: { collectorImage: "collector:2" } })).toBe(200);
    const failed = await ready("False", "Failed");
    expect(failed).toMatchObject({ replicas: 2, targets: 6, selector: before.selector });
    expect(failed.condition).toMatchObject({
      observedGeneration: 2,
      message: expect.stringMatching(/statefulsets.*sample-collector/),
    });
    expect(failed.conditions?.map(({ type }) => type)).toEqual(before.conditions?.map(({ type }) => type));
    const metrics = await (await fetch(await service.url("admin", "/metrics"))).text();
    expect(metrics).toContain('collector_scheduler_ready{namespace="default",name="sample"} 0');
    await settled(service, path, pods(2), 6);
    mend();
    expect((await ready("True", expect.any(String))).condition).toMatchObject({ observedGeneration: 2 });
  },
  120_000,
);
