import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { waitUntil } from "@evenkeel/control-plane";
import { relabelling, type RelabelRule, type ScrapeJob } from "@evenkeel/relabel";
import { expect, jest, test } from "@jest/globals";
import { Collector, scrapeConfigOf } from "../src/index.ts";

jest.setTimeout(120_000);

const RULES: readonly RelabelRule[] = [
  { source_labels: ["__meta_kubernetes_pod_label_app", "__address__"], target_label: "app", regex: "(.+);(.+):\\d+" },
  { action: "labelmap", regex: "__meta_kubernetes_pod_label_(.+)", replacement: "pod_$1" },
  { action: "hashmod", source_labels: ["app"], modulus: 7, target_label: "__tmp_hash" },
  { action: "uppercase", source_labels: ["pod_app"], target_label: "pod_app" },
  { action: "labeldrop", regex: "__meta_kubernetes_pod_label_team" },
  { source_labels: ["__meta_kubernetes_namespace"], target_label: "__address__", replacement: "${1}.svc:80" },
  { action: "keep", source_labels: ["__meta_kubernetes_namespace"], regex: "shop|depot" },
  { action: "dropequal", source_labels: ["pod_team"], target_label: "app" },
  { target_label: "last", replacement: "reached" },
];

const JOB: ScrapeJob = {
  ...{ jobName: "app", scheme: "http", metricsPath: "/metrics", scrapeInterval: "1m", scrapeTimeout: "10s" },
  ...{ params: new Map(), names: "utf8", rules: RULES },
  ...{ convertClassicHistograms: false, alwaysScrapeClassicHistograms: false, scrapeNativeHistograms: false },
};

/** What the job gives each of its targets. */
const SEEDS = {
  job: "app",
  __scheme__: "http",
  __metrics_path__: "/metrics",
  __scrape_interval__: "1m",
  __scrape_timeout__: "10s",
  __convert_classic_histograms_to_nhcb__: "false",
  __always_scrape_classic_histograms__: "false",
  __scrape_native_histograms__: "false",
};

const pod = (namespace: string, app: string, team: string) => ({
  __address__: "10.0.0.7:8080",
  __meta_kubernetes_namespace: namespace,
  __meta_kubernetes_pod_label_app: app,
  __meta_kubernetes_pod_label_team: team,
});
const TARGETS = [pod("shop", "web", "a"), pod("office", "web", "a"), pod("depot", "db", "db"), pod("shop", "", "b")];

interface Steps {
  readonly data: { readonly steps: readonly { readonly output: Record<string, string>; readonly keep: boolean }[] };
}

test("Explain has the steps that a real collector tells of itself", async () => {
  const port = await freePort();
  const job = { ...scrapeConfigOf(JOB), static_configs: [{ targets: ["127.0.0.1:1"] }] };
  await using collector = await Collector.start({ config: configurationOf(job, port) });
  const asked = (labels: object) => {
    const query = new URLSearchParams({ scrapePool: "app", labels: JSON.stringify({ ...SEEDS, ...labels }) });
    return fetch(`http://127.0.0.1:${port}/api/v1/targets/relabel_steps?${query.toString()}`);
  };
  await waitUntil("the collector knows its job", async () => {
    const answer = await asked({}).catch((error: unknown) => String(error));
    return typeof answer !== "string" && answer.ok ? undefined : `no answer yet\n${collector.log}`;
  });
  const compilation = relabelling(JOB);
  if (!compilation.ok) throw new Error(JSON.stringify(compilation.faults));
  const ends = new Set<number>();
  for (const target of TARGETS) {
    const { data } = (await (await asked(target)).json()) as Steps;
    const dropped = data.steps.findIndex(({ keep }) => !keep);
    const theirs = data.steps
      .slice(0, dropped === -1 ? undefined : dropped + 1)
      .map(({ output, keep }) => (keep ? output : undefined));
    const ours = compilation.relabelling.steps(new Map(), new Map(Object.entries(target)));
    expect(ours.map(({ labels }) => labels && Object.fromEntries(labels))).toEqual(theirs);
    ends.add(ours.length);
  }
  // Two rules drop one each, and the others reach the end.
  expect([...ends].sort()).toEqual([7, 8, RULES.length]);
});

/** A lone `$` is a variable for a collector. */
function configurationOf(job: object, port: number): string {
  const receiver = {
    api_server: { enabled: true, server_config: { endpoint: `127.0.0.1:${port}` } },
    config: { scrape_configs: [job] },
  };
  return JSON.stringify({
    receivers: { prometheus: receiver },
    exporters: { counting: {} },
    service: { pipelines: { metrics: { receivers: ["prometheus"], exporters: ["counting"] } } },
  }).replaceAll("$", "$$$$");
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
