import { setTimeout as pause } from "node:timers/promises";
import { apply, get, kubectl, list, TEST_TIMEOUT_MS, useCluster } from "@evenkeel/e2e";
import { Keda } from "@evenkeel/keda";
import type { ServiceProcess } from "@evenkeel/testkit";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { arrivalIn, ask } from "./ask.ts";
import { NAMESPACE } from "./manifests.ts";
import { CHART, Site, Traffic } from "./site.ts";

// `make e2e-keda` runs this file. `make e2e` does not, because KEDA's first build takes ten minutes.

/** Where the chart is installed. */
const RELEASE = "resolver";
const GRPC_PORT = 19_090;
const IN = ["-n", NAMESPACE] as const;
const FORCED = "autoscaling.keda.sh/force-activation";
const PAUSED = "autoscaling.keda.sh/paused";

interface ScaledObject {
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}
interface Autoscaler {
  readonly status?: {
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message: string }[];
    readonly desiredReplicas: number;
  };
}

let site: Site;
let keda: Keda;
let resolver: ServiceProcess;

// Before the cluster stops, which is next.
afterAll(async () => {
  await resolver[Symbol.asyncDispose]();
  await keda[Symbol.asyncDispose]();
  await site[Symbol.asyncDispose]();
}, TEST_TIMEOUT_MS);

const cluster = useCluster({ name: "scale-resolver-keda", nodes: 1 });

beforeAll(async () => {
  site = await Site.start(cluster());
  keda = await Keda.start(cluster(), { hosts: { [`${CHART}.${RELEASE}`]: "127.0.0.1" } });
  resolver = await site.serve({ namespace: RELEASE, grpcPort: GRPC_PORT });
  await resolver.phase("ready");
}, 2 * TEST_TIMEOUT_MS);

const annotationsOf = async (name: string) =>
  (await get<ScaledObject>(cluster(), "scaledobject", name, ...IN)).metadata.annotations ?? {};

/** A ScaledObject of a user, with a trigger that reports no load. Counts how often KEDA asks. */
async function quietScaledObject(name: string): Promise<{ polls: number }> {
  const seen = { polls: 0 };
  const query = `sum(keda_load{service="${name}"})`;
  site.prometheus.answer(query, () => {
    seen.polls += 1;
    return { kind: "vector", samples: [{ metric: {}, value: 0 }] };
  });
  const metadata = { serverAddress: site.prometheus.url, query, threshold: "5" };
  await apply(cluster(), {
    apiVersion: "keda.sh/v1alpha1",
    kind: "ScaledObject",
    metadata: { name, namespace: NAMESPACE },
    spec: {
      scaleTargetRef: { name },
      ...{ minReplicaCount: 0, maxReplicaCount: 3, pollingInterval: 1, cooldownPeriod: 1 },
      triggers: [{ type: "prometheus", metadata }],
    },
  });
  return seen;
}

/** A ScaledObject of a user that keeps at least one replica, with as many more as the traffic of a service needs. */
async function growingScaledObject(name: string, { query }: Traffic, perPod: number): Promise<void> {
  const metadata = { serverAddress: site.prometheus.url, query, threshold: String(perPod) };
  await apply(cluster(), {
    apiVersion: "keda.sh/v1alpha1",
    kind: "ScaledObject",
    metadata: { name, namespace: NAMESPACE },
    spec: {
      scaleTargetRef: { name },
      ...{ minReplicaCount: 1, maxReplicaCount: 4, pollingInterval: 1 },
      triggers: [{ type: "prometheus", metadata }],
    },
  });
}

/** No pod starts until the returned function is called. */
async function holdPods(): Promise<() => Promise<void>> {
  const nodes = (await list<{ metadata: { name: string } }>(cluster(), "nodes")).map(({ metadata }) => metadata.name);
  await kubectl(cluster(), ["cordon", ...nodes]);
  return async () => {
    await kubectl(cluster(), ["uncordon", ...nodes]);
  };
}

test(
  "a ScaledObject with minReplicaCount 0 and a quiet trigger does not undo a wake while the pod starts, and scales to zero again later",
  async () => {
    const url = await site.given("quiet", { autoscaler: { type: "keda", name: "quiet" } });
    const seen = await quietScaledObject("quiet");
    // Either scales it to zero: KEDA by its quiet trigger, or the resolver, which then pauses KEDA.
    await site.asleep("quiet");

    const release = await holdPods();
    const answer = ask(url);
    await site.until("a wake", async () => ((await site.replicas("quiet")) === 1 ? undefined : "no replica is wanted"));
    const { [PAUSED]: paused, [FORCED]: forced } = await annotationsOf("quiet");
    expect(paused).not.toBe("true");
    expect(forced).toBe("true");
    // KEDA reports it as inactive all the time, and would scale it back at each of these polls.
    const { polls } = seen;
    while (seen.polls < polls + 5) {
      expect(await site.replicas("quiet")).toBe(1);
      await pause(50);
    }
    await release();
    expect(arrivalIn(await answer)).toMatchObject({ method: "GET" });

    await site.until("KEDA to scale to zero by itself again", async () =>
      (await site.replicas("quiet")) === 0 ? undefined : JSON.stringify(await annotationsOf("quiet")),
    );
    expect(await annotationsOf("quiet")).not.toHaveProperty([FORCED]);
    await site.asleep("quiet");
    expect(arrivalIn(await ask(url)).pod).toMatch(/^10\.200\./);
  },
  TEST_TIMEOUT_MS,
);

test(
  "a ScaledObject of a user scales a woken service up by its load, while its requests do not pass the resolver",
  async () => {
    const traffic = new Traffic(site.prometheus, "grown");
    const url = await site.given("grown", { autoscaler: { type: "keda", name: "grown" }, triggers: traffic.triggers });
    await growingScaledObject("grown", traffic, 10);
    traffic.rate = 0;
    await site.asleep("grown");
    const answer = ask(url);
    await site.until("a wake", async () => ((await site.replicas("grown")) === 1 ? undefined : "no replica is wanted"));
    traffic.rate = 25;
    expect(arrivalIn(await answer)).toMatchObject({ method: "GET" });
    await site.outOfPath("grown");
    await site.until("KEDA to scale it up", async () => {
      const replicas = await site.replicas("grown");
      return replicas === 3 ? undefined : `it has ${replicas} replicas`;
    });
    const { status } = await site.get("grown");
    expect(status).toMatchObject({ state: "Serve" });
    expect(status?.conditions?.map(({ type }) => type)).not.toContain("AutoscalerGrows");

    // It sleeps again, whatever KEDA wants.
    traffic.rate = 0;
    await site.asleep("grown");
    expect(await annotationsOf("grown")).toMatchObject({ [PAUSED]: "true" });
  },
  TEST_TIMEOUT_MS,
);

test(
  "a ScaledObject that the resolver creates is ready, keeps a warm service at its replicas, and wakes with it",
  async () => {
    const traffic = new Traffic(site.prometheus, "made");
    const autoscaler = { type: "keda", name: "made", create: true, maxReplicas: 4, targetConcurrency: 5 };
    const url = await site.given("made", { autoscaler, triggers: traffic.triggers });
    const ready = async () => {
      const { status } = await get<ScaledObject>(cluster(), "scaledobject", "made", ...IN);
      const found = status?.conditions?.find(({ type }) => type === "Ready");
      return found?.status === "True" ? undefined : JSON.stringify(status ?? null);
    };
    await site.until("KEDA to accept the ScaledObject", ready);

    traffic.rate = 0;
    await site.asleep("made");
    expect(await annotationsOf("made")).toMatchObject({ [PAUSED]: "true" });
    const release = await holdPods();
    const answers = Array.from({ length: 20 }, () => ask(url));
    await site.until("a wake", async () => ((await site.replicas("made")) > 0 ? undefined : "no replica is wanted"));
    traffic.rate = 5;
    await release();
    for (const answer of answers) expect(arrivalIn(await answer)).toMatchObject({ method: "GET" });
    await site.outOfPath("made");

    // The autoscaler reads the resolver's value through the adapter: as many replicas as there are.
    const replicas = await site.replicas("made");
    await site.until("the autoscaler to read the metric", async () => {
      const { status } = await get<Autoscaler>(cluster(), "hpa", "keda-hpa-made", ...IN);
      const active = status?.conditions?.find(({ type }) => type === "ScalingActive");
      return active?.status === "True" ? undefined : JSON.stringify(status ?? null);
    });
    expect((await get<Autoscaler>(cluster(), "hpa", "keda-hpa-made", ...IN)).status?.desiredReplicas).toBe(replicas);
    expect(await site.replicas("made")).toBe(replicas);
    expect((await site.get("made")).status?.conditions).toContainEqual(
      expect.objectContaining({ type: "AutoscalerGrows", status: "False" }),
    );

    await kubectl(cluster(), ["delete", "elastiservice", "made", ...IN, "--timeout=30s"]);
    await site.until("its ScaledObject to go", async () => {
      const { stderr } = await cluster().kubectl(["get", "scaledobject", "made", ...IN]);
      return stderr.includes("NotFound") ? undefined : "it is there";
    });
    expect(await site.replicas("made")).toBeGreaterThan(0);
  },
  TEST_TIMEOUT_MS,
);
