import { eventually } from "@evenkeel/runtime/testing";
import { describeRedis, RedisServer } from "@evenkeel/state-contract";
import type { ServiceProcess } from "@evenkeel/testkit";
import { expect, test } from "@jest/globals";
import { configuration, fleetWorld, loadBalancer, settled, statefulSet, staticFleet } from "./fleet-world.ts";

const pods = (count: number) => Array.from({ length: count }, (_, index) => `sample-collector-${index}`);
const path = (collector: string) => `/jobs/shop%2Fapp/targets?collector_id=${collector}`;
const object = { namespace: "default", name: "sample" };

/** A call of the JSON API. */
async function ask<T = Record<string, unknown>>(service: ServiceProcess, method: string, request: object): Promise<T> {
  const body = JSON.stringify({ ...object, ...request });
  const headers = { "content-type": "application/json" };
  const answer = await fetch(await service.url("admin", `/api/v1/Collectors/${method}`), {
    ...{ method: "POST", headers, body },
  });
  expect([answer.status, answer.status === 200 ? "" : await answer.text()]).toEqual([200, ""]);
  return (await answer.json()) as T;
}

interface Page {
  readonly targets: readonly { readonly address: string; readonly ownership: { readonly owner: string } }[];
  readonly collectors: readonly { readonly name: string; readonly targets: number }[];
  readonly nextPageToken: string;
  readonly targetCount: number;
}

/** Jobs of which two see pod web-0: one drops it by its second rule, one by its first. */
const jobs = [
  {
    job_name: "shop/app",
    scrape_interval: "1s",
    static_configs: [{ targets: Array.from({ length: 60 }, (_, index) => `10.0.0.${index}:9100`) }],
    relabel_configs: [{ source_labels: ["__address__"], target_label: "node", regex: "(.*):9100" }],
  },
  { job_name: "none", kubernetes_sd_configs: [{ role: "pod" }], relabel_configs: [{ action: "keep", regex: "no" }] },
  {
    job_name: "pods",
    kubernetes_sd_configs: [{ role: "pod" }],
    relabel_configs: [
      { action: "replace", target_label: "app", source_labels: ["__meta_kubernetes_pod_label_app"] },
      {
        action: "keep",
        source_labels: ["__meta_kubernetes_pod_annotation_prometheus_io_scrape"],
        regex: "true",
      },
    ],
  },
  {
    job_name: "slow",
    static_configs: [{ targets: ["late:80"], labels: { __scrape_timeout__: "2h" } }],
  },
  { job_name: "broken", static_configs: [{ targets: ["a:80"] }], relabel_configs: [{ action: "keep", regex: "(" }] },
];

describeRedis("two replicas", () => {
  test("say why a target is scraped by its collector, or by none, and what more collectors would do", async () => {
    await using world = await fleetWorld();
    world.load(staticFleet("sample", 0, { collectorConfig: configuration(jobs) }));
    world.load({
      ...{ apiVersion: "v1", kind: "Pod", metadata: { name: "web-0", namespace: "default", labels: { app: "web" } } },
      spec: { nodeName: "one", containers: [{ name: "web", image: "web", ports: [{ containerPort: 80 }] }] },
      status: { phase: "Running", podIP: "10.9.9.9" },
    });
    const redis = await RedisServer.start();
    world.use({ stop: () => redis.end() });
    const service = world.serve([`--state=${redis.address}`]);
    const owned = await settled(service, path, pods(3), 60);

    // Assignments: each target once over all pages, and as the collectors are told.
    const found: Page["targets"][number][] = [];
    let page = await ask<Page>(service, "Assignments", { job: "prometheus/shop/app", pageSize: 25 });
    expect([page.targetCount, page.targets.length]).toEqual([60, 25]);
    expect(page.collectors.map(({ name }) => name).sort()).toEqual(pods(3));
    for (found.push(...page.targets); page.nextPageToken !== ""; found.push(...page.targets)) {
      const pageToken = page.nextPageToken;
      page = await ask<Page>(service, "Assignments", { job: "prometheus/shop/app", pageSize: 25, pageToken });
    }
    const byOwner = Map.groupBy(found, ({ ownership }) => ownership.owner);
    for (const [collector, own] of owned) {
      expect(
        byOwner
          .get(collector)
          ?.map(({ address }) => address)
          .sort(),
      ).toEqual([...own].sort());
    }
    const one = await ask<Page>(service, "Assignments", { collector: "sample-collector-1", pageSize: 1000 });
    expect(one.targetCount).toBe(owned.get("sample-collector-1")?.length);

    // A target that is scraped, by its label after relabelling.
    const [[owner] = [""]] = [...owned].filter(([, own]) => own.includes("10.0.0.7:9100"));
    const kept = { job: "prometheus/shop/app", kept: { address: "10.0.0.7:9100", ownership: { servedTo: [owner] } } };
    for (const query of [{ labels: ["node=10.0.0.7"] }, { address: "10.0.0.7:9100" }]) {
      expect(await ask(service, "Explain", query)).toMatchObject({
        ...{ sightingCount: 1, sightings: [{ ...kept, steps: [{ rule: 0, set: { node: "10.0.0.7" } }] }] },
        configFaults: [expect.stringContaining("prometheus/broken")],
      });
    }

    // Dropped targets: the rule is named, and the job that came nearest is first.
    const dropped = await ask<Explained>(service, "Explain", { pod: "default/web-0" });
    expect(dropped).toMatchObject({
      sightings: [
        {
          ...{ job: "prometheus/pods", mechanism: "kubernetes", source: "pod/default/web-0", dropped: { rule: 1 } },
          ...{ discovered: { __meta_kubernetes_pod_label_app: "web" }, steps: [{ set: { app: "web" } }, { set: {} }] },
        },
        { job: "prometheus/none", dropped: { rule: 0 } },
      ],
    });
    expect(dropped.message).toContain("relabel_configs[1]");
    expect(dropped.sightings[0]?.steps.map(({ set }) => set)).toEqual([{ app: "web" }, {}]);
    expect(await ask(service, "Explain", { address: "late:80" })).toMatchObject({
      sightings: [{ job: "prometheus/slow", invalid: { fault: "TimeoutAboveInterval" } }],
    });
    expect(await ask(service, "Explain", { address: "10.0.0.99:1" })).toMatchObject({
      sightings: [],
      sightingCount: 0,
    });

    // More collectors: planned on all targets, and nothing is changed.
    const moved = await ask<WhatIf>(service, "WhatIf", { replicas: 4 });
    expect([moved.before.collectors.length, moved.after.collectors.length, moved.after.targets]).toEqual([3, 4, 60]);
    expect(moved.movedTargets).toBeGreaterThan(5);
    expect(moved.movedTargets).toBeLessThan(25);
    expect(moved.after.maxOverMean).toBeLessThan(1.2);
    expect((await world.read(statefulSet("sample"))).spec.replicas).toBe(3);
    expect((await world.read(loadBalancer("sample"))).spec.replicas).toBe(3);

    // Another replica gives the same answer.
    const other = world.serve([`--state=${redis.address}`]);
    await other.phase("ready");
    await eventually(async () => {
      expect(await ask(other, "Explain", { pod: "default/web-0" })).toEqual(dropped);
      expect(await ask(other, "Explain", { address: "10.0.0.7:9100" })).toMatchObject({ sightings: [kept] });
    });
  }, 90_000);
});

interface Explained {
  readonly message: string;
  readonly sightings: readonly { readonly steps: readonly { readonly set: Readonly<Record<string, string>> }[] }[];
}

interface WhatIf {
  readonly before: { readonly collectors: readonly unknown[] };
  readonly after: { readonly collectors: readonly unknown[]; readonly targets: number; readonly maxOverMean: number };
  readonly movedTargets: number;
}
