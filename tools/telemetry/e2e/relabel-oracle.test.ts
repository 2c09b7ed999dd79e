import type { ScrapeJob } from "@evenkeel/relabel";
import { expect, test } from "@jest/globals";
import { askOracle, scrapeConfigOf } from "../src/index.ts";

const JOB: ScrapeJob = {
  jobName: "app",
  scheme: "https",
  metricsPath: "/m",
  scrapeInterval: "10s",
  scrapeTimeout: "5s",
  params: new Map([["module", ["a", "b"]]]),
  convertClassicHistograms: false,
  alwaysScrapeClassicHistograms: true,
  scrapeNativeHistograms: false,
  names: "utf8",
  rules: [],
};

const SEEDS = {
  job: "app",
  __address__: "h:1",
  __scheme__: "https",
  __metrics_path__: "/m",
  __scrape_interval__: "10s",
  __scrape_timeout__: "5s",
  __param_module: "a",
  __convert_classic_histograms_to_nhcb__: "false",
  __always_scrape_classic_histograms__: "true",
  __scrape_native_histograms__: "false",
};

test("the oracle keeps, drops, faults and refuses as Prometheus does", async () => {
  const target = { __address__: "h:1" };
  const group = { __meta_zone: "x" };
  const job = (rules: ScrapeJob["rules"]) => scrapeConfigOf({ ...JOB, rules });
  const answers = await askOracle([
    { job: job([]), group, target },
    { job: job([{ source_labels: ["__meta_zone"], regex: "x", action: "drop" }]), group, target },
    { job: job([]), group, target: {} },
    { job: job([{ action: "hashmod", target_label: "a" }]), group, target },
  ]);
  expect(answers).toEqual([
    { labels: { ...SEEDS, instance: "h:1" } },
    { dropped: true },
    { fault: "no address" },
    { refused: expect.stringContaining("modulus") },
  ]);
});

test("the oracle tells the labels after each rule up to the one that drops the target", async () => {
  const rules = [
    { source_labels: ["__address__"], action: "hashmod", modulus: 18_446_744_073_709_551_615n, target_label: "hash" },
    { target_label: "odd", replacement: "\u007f\n𝒳" },
    { action: "keep", source_labels: ["odd"], regex: "even" },
    { target_label: "never", replacement: "seen" },
  ];
  const [answer] = await askOracle([
    { job: scrapeConfigOf({ ...JOB, rules }), group: {}, target: { __address__: "h:1" }, steps: true },
  ]);
  const hashed = { ...SEEDS, hash: "7910754862989157059" };
  expect(answer).toEqual({ dropped: true, steps: [hashed, { ...hashed, odd: "\u007f\n𝒳" }, null] });
});
