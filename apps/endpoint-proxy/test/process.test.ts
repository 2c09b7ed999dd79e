import type { IncomingMessage } from "node:http";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { MetricRegistry } from "@evenkeel/metrics";
import { connectPeer, type Peer, peerMetrics, scoresV1 } from "@evenkeel/rpc";
import { systemClock } from "@evenkeel/runtime";
import { eventually, silentLog } from "@evenkeel/runtime/testing";
import { FaultPlan } from "@evenkeel/sim";
import { ADMIN } from "@evenkeel/testkit";
import { expect, test } from "@jest/globals";
import { ask } from "./gateway-client.ts";
import { conditionsOf, ProxyCluster } from "./proxy-cluster.ts";
import { DEPLOYMENTS, deployment } from "./three-clusters.ts";

test("makes the own ClusterScore, scores it by capacity without WAO, and stops when it is told to", async () => {
  await using cluster = await ProxyCluster.start("tokyo", "tokyo.east");
  const service = cluster.run();
  await eventually(async () =>
    expect((await cluster.scores())["tokyo-east"]).toMatchObject({
      spec: { owncluster: true, region: "tokyo.east" },
      status: {
        score: 250,
        source: "capacity",
        nodes: [{ name: "node-1", score: 250 }],
        free: { cpu: 3000, memory: 7 * 2 ** 30, pods: 109 },
        whole: { cpu: 4000, memory: 8 * 2 ** 30, pods: 110 },
      },
    }),
  );
  const list = await fetch(await service.url("admin", "/api/v1/ClusterScores/Get"));
  expect(await list.json()).toMatchObject({
    clusters: [{ name: { name: "tokyo-east" }, own: true, standing: "Ready", score: "250" }],
  });
  service.signal("SIGTERM");
  expect((await service.exit).code).toBe(0);
});

test("scores.v1 Watch tells the present clusters first, then each change and each removal", async () => {
  await using cluster = await ProxyCluster.start("tokyo");
  const service = cluster.run();
  await eventually(async () => expect((await cluster.scores())["tokyo"]).toMatchObject({ status: { score: 250 } }));
  using watch = new Watch(new URL(await service.url("grpc", "/")).host);
  const name = (one: string) => ({ namespace: "wao-system", name: one });
  const told = (value: object) => expect.objectContaining({ $case: "cluster", value: expect.objectContaining(value) });
  await eventually(() =>
    expect(watch.events).toContainEqual(told({ name: name("tokyo"), own: true, standing: "Ready", score: 250n })),
  );
  cluster.adopt("osaka", { endpoint: "https://127.0.0.1:1", authority: cluster.authority });
  await eventually(() =>
    expect(watch.events).toContainEqual(told({ name: name("osaka"), own: false, standing: "Unreachable" })),
  );
  await cluster.remove("osaka");
  await eventually(() => expect(watch.events).toContainEqual({ $case: "removed", value: name("osaka") }));
});

/** The events of scores.v1 Watch for namespace wao-system, as they come. */
class Watch implements Disposable {
  readonly events: unknown[] = [];
  readonly #closing = new AbortController();
  readonly #peer: Peer;

  constructor(address: string) {
    const log = silentLog();
    const metrics = new MetricRegistry().register(peerMetrics);
    this.#peer = connectPeer({ name: "test", address, transport: "insecure", clock: systemClock, log, metrics });
    this.#peer.start();
    // It ends with the abort.
    this.#read().catch(() => undefined);
  }

  [Symbol.dispose](): void {
    this.#closing.abort();
    this.#peer.stop();
  }

  async #read(): Promise<void> {
    const { signal } = this.#closing;
    const client = this.#peer.client(scoresV1.ClusterScoresDefinition);
    for await (const { event } of client.watch({ namespace: "wao-system" }, { signal })) this.events.push(event);
  }
}

test("starts with certificates for gRPC beside those of its ports", async () => {
  await using cluster = await ProxyCluster.start("tokyo");
  const file = (name: string) => join(cluster.folder, "pki", name);
  const service = cluster.run(
    "--insecure=false",
    `--tls-cert-file=${file("tls.crt")}`,
    `--tls-key-file=${file("tls.key")}`,
  );
  const metrics = await (await fetch(await service.url("admin", "/metrics"))).text();
  for (const prefix of ["evenkeel", "endpoint_proxy"]) {
    expect(metrics).toMatch(new RegExp(`^${prefix}_certificate_expiry_timestamp_seconds [\\d.e+]+$`, "m"));
  }
});

test("without a region label it takes --cluster-name and says so, where the original panics", async () => {
  await using cluster = await ProxyCluster.start("nagoya", null);
  cluster.run("--cluster-name=nagoya");
  await eventually(async () =>
    expect(conditionsOf((await cluster.scores())["nagoya"])).toMatchObject({
      ...{ Ready: "True/Scored", RegionKnown: "False/NoRegionLabel" },
    }),
  );
});

test("a refused write of a peer's region leaves its score in the status, and Ready says so until it is allowed", async () => {
  const plan = new FaultPlan();
  const osakaItself = { resource: "clusterscores", name: "osaka", subresource: "" };
  const mend = plan.add({ verb: "patch", ...osakaItself, fault: { kind: "status", code: 403 } });
  await using tokyo = await ProxyCluster.start("tokyo", "tokyo", { faults: plan.faults });
  await using osaka = await ProxyCluster.start("osaka");
  tokyo.adopt("osaka", osaka);
  osaka.adopt("tokyo", tokyo);
  osaka.run();
  tokyo.run();
  const peer = async () => (await tokyo.scores())["osaka"];
  await eventually(async () => {
    const stored = await peer();
    expect(stored).toMatchObject({ status: { score: 250 } });
    expect(conditionsOf(stored)).toMatchObject({ Ready: "False/Failed", Scored: "True/Scored" });
    expect(stored?.spec.region).toBeUndefined();
  });
  mend();
  await eventually(async () => {
    const stored = await peer();
    expect(stored).toMatchObject({ spec: { region: "osaka" } });
    expect(conditionsOf(stored)).toMatchObject({ Ready: "True/Scored" });
  });
}, 30_000);

test("a dead peer loses its score, and costs nobody's freshness (defect 3)", async () => {
  await using tokyo = await ProxyCluster.start("tokyo");
  await using osaka = await ProxyCluster.start("osaka");
  await using kyoto = await ProxyCluster.start("kyoto");
  for (const peer of [osaka, kyoto]) {
    tokyo.adopt(peer.name, peer);
    peer.adopt("tokyo", tokyo);
    peer.run();
  }
  // The same cluster under another name.
  tokyo.adopt("osaka-again", osaka);
  tokyo.run();
  await Promise.all([tokyo, osaka, kyoto].map((cluster) => cluster.process.phase("ready")));
  await eventually(async () => {
    const scores = await tokyo.scores();
    for (const name of ["tokyo", "osaka", "kyoto"]) {
      expect(scores[name]).toMatchObject({ spec: { region: name }, status: { score: 250 } });
      expect(conditionsOf(scores[name])).toMatchObject({
        Ready: "True/Scored",
        Reachable: expect.stringMatching(/^True/),
      });
    }
    expect(conditionsOf(scores["osaka-again"])).toMatchObject({ Duplicate: "True/ListedTwice" });
  });

  kyoto.process.signal("SIGKILL");
  await eventually(async () => {
    const { kyoto: dead, osaka: alive } = await tokyo.scores();
    expect(conditionsOf(dead)).toMatchObject({ Reachable: "False/Unreachable", Scored: "False/Unreachable" });
    expect(dead?.status?.score).toBeUndefined();
    expect(conditionsOf(alive)).toMatchObject({ Ready: "True/Scored" });
    expect(Date.now() - Date.parse(alive?.status?.updateTimestamp ?? "")).toBeLessThan(5000);
  });
});

test("a write waits for admission that takes longer than --member-deadline", async () => {
  const faults = async ({ url = "" }: IncomingMessage) => {
    if (url.includes("/deployments") && url.includes("dryRun=All")) await pause(1500);
    return "pass" as const;
  };
  await using tokyo = await ProxyCluster.start("tokyo", "tokyo", { faults });
  const running = tokyo.run("--member-deadline=500ms");
  await eventually(async () => expect((await tokyo.scores())["tokyo"]?.status?.score).toBe(250));
  const { port } = new URL(await running.url("gateway", "/"));
  const headers = ["content-type", "application/json", "accept", "application/json"];
  const body = JSON.stringify(deployment("web", 2));
  const asked = { method: "POST", token: ADMIN.token, headers, body };
  const created = await ask(`https://127.0.0.1:${port}`, DEPLOYMENTS, tokyo.authority.cert, asked);
  expect(created.status).toBe(201);
});
