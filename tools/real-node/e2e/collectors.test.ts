import { charts, Release, serviceCharts } from "@evenkeel/charts";
import { apply, get, kubectl, list, TEST_TIMEOUT_MS, waitUntil } from "@evenkeel/e2e";
import { telemetryBin } from "@evenkeel/telemetry";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import {
  COLLECTOR_IMAGE,
  describeOnRealNode,
  NODE_IMAGE,
  writeCollectorImage,
  writeServiceImage,
} from "../src/index.ts";

const SERVICE = "collector-scheduler";
/** Where the service is installed, and where collectors and targets are. */
const SYSTEM = "collectors-system";
const NAMESPACE = "collectors";
const IN_PLACE = ["-n", NAMESPACE];
const NODE = "/nodejs/bin/node";
const COLLECTORS = "app.kubernetes.io/instance=collectors__metrics";

/** Ports of the pod that is scraped: each is a target of its own. */
const PORTS = [9101, 9102, 9103, 9104, 9105, 9106];

/**
 * Answers with one metric, and on port 8080 with the addresses that have asked for it by port in the last three
 * seconds.
 */
const SCRAPED = `
  const { createServer } = require("node:http");
  const seen = new Map();
  for (const port of ${JSON.stringify(PORTS)}) createServer((request, response) => {
    seen.set(port + " " + request.socket.remoteAddress.replace("::ffff:", ""), Date.now());
    response.setHeader("content-type", "text/plain; version=0.0.4");
    response.end("visits_total 1\\n");
  }).listen(port);
  createServer((request, response) => {
    const recent = [...seen].flatMap(([key, at]) => (at > Date.now() - 3000 ? [key.split(" ")] : []));
    response.end(JSON.stringify(recent));
  }).listen(8080);
`;

/** What Pod Security "restricted" asks of a pod and of its containers. */
const RESTRICTED_POD = { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } };
const RESTRICTED = { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } };

const target = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "shop", namespace: NAMESPACE, annotations: { "prometheus.io/scrape": "true" } },
  spec: {
    securityContext: RESTRICTED_POD,
    containers: [
      {
        ...{ name: "node", image: NODE_IMAGE, args: ["-e", SCRAPED], securityContext: RESTRICTED },
        ports: PORTS.map((containerPort) => ({ containerPort })),
      },
    ],
  },
};

const KEPT = "__meta_kubernetes_pod_annotation_prometheus_io_scrape";
const job = {
  ...{ job_name: "pods", scrape_interval: "1s", scrape_timeout: "1s" },
  kubernetes_sd_configs: [{ role: "pod", namespaces: { own_namespace: true } }],
  relabel_configs: [{ source_labels: [KEPT], action: "keep", regex: "true" }],
};

const fleet = {
  apiVersion: "otel.k8s.aws/v1",
  kind: "CollectorLoadBalancer",
  metadata: { name: "metrics", namespace: NAMESPACE },
  spec: {
    ...{ replicas: 2, collectorImage: COLLECTOR_IMAGE, targetRefresh: "1s" },
    collectorConfig: JSON.stringify({
      receivers: { prometheus: { config: { scrape_configs: [job] } } },
      exporters: { debug: {} },
      service: { pipelines: { metrics: { receivers: ["prometheus"], exporters: ["debug"] } } },
    }),
    podTemplate: {
      spec: {
        securityContext: RESTRICTED_POD,
        containers: [{ name: "aoc2", imagePullPolicy: "Never", securityContext: RESTRICTED }],
      },
    },
  },
};

describeOnRealNode("collector-scheduler, installed by the umbrella chart", (cluster) => {
  let release: Release | undefined;

  beforeAll(async () => {
    await cluster().loadImage(writeServiceImage(SERVICE));
    await cluster().loadImage(writeCollectorImage(await telemetryBin("otelcol")));
    for (const namespace of [SYSTEM, NAMESPACE]) {
      await kubectl(cluster(), ["create", "namespace", namespace]);
      await kubectl(cluster(), ["label", "namespace", namespace, "pod-security.kubernetes.io/enforce=restricted"]);
    }
    release = await Release.prepare(cluster());
    const values = serviceCharts(charts).map((name) => `${name}.enabled=${name === SERVICE}`);
    await release.helm(
      ...["install", "collectors", release.chart("evenkeel"), "--namespace", SYSTEM, "--wait", "--timeout", "90s"],
      ...values.flatMap((value) => ["--set", value]),
    );
  }, 2 * TEST_TIMEOUT_MS);

  afterAll(() => release?.[Symbol.dispose]());

  test(
    "runs collectors that ask it for their targets, and each target is scraped by one of them",
    async () => {
      await apply(cluster(), target, fleet);
      let collectors: readonly string[] = [];
      await waitUntil("two collectors to share the targets", async () => {
        const pods = await list<{ status: { podIP?: string } }>(cluster(), "pods", ...IN_PLACE, "-l", COLLECTORS);
        collectors = pods.flatMap(({ status }) => status.podIP ?? []).sort();
        const seen = await scrapers();
        const sole = [...seen.values()].every((addresses) => addresses.length === 1);
        const all = [...new Set([...seen.values()].flat())].sort();
        const isShared = seen.size === PORTS.length && sole && all.length === 2 && all.join() === collectors.join();
        return isShared ? undefined : JSON.stringify({ collectors, seen: [...seen] });
      });
      const { status } = await get<{ status: Record<string, unknown> }>(
        cluster(),
        "collectorloadbalancer",
        "metrics",
        ...IN_PLACE,
      );
      expect(status).toMatchObject({ replicas: 2, targets: PORTS.length });
    },
    TEST_TIMEOUT_MS,
  );

  /** The addresses that have scraped each port in the last seconds. */
  async function scrapers(): Promise<ReadonlyMap<string, readonly string[]>> {
    const program = `fetch("http://127.0.0.1:8080").then((answer) => answer.text()).then(console.log)`;
    const { stdout, code } = await cluster().kubectl(["exec", "shop", ...IN_PLACE, "--", NODE, "-e", program]);
    const pairs = code === 0 ? (JSON.parse(stdout) as readonly (readonly [string, string])[]) : [];
    const byPort = new Map<string, string[]>();
    for (const [port, address] of pairs) byPort.set(port, [...(byPort.get(port) ?? []), address]);
    return byPort;
  }
});
