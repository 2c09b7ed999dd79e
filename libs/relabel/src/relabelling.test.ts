import { expect, test } from "@jest/globals";

import { relabelling, type RelabelRule, type ScrapeJob } from "./index.ts";

const job: ScrapeJob = {
  jobName: "app",
  scheme: "http",
  metricsPath: "/metrics",
  scrapeInterval: "60s",
  scrapeTimeout: "10s",
  params: new Map([["module", ["http_2xx", "ignored"]]]),
  convertClassicHistograms: false,
  alwaysScrapeClassicHistograms: false,
  scrapeNativeHistograms: true,
  names: "utf8",
  rules: [],
};

const seeds = {
  __address__: "10.0.0.1:80",
  __always_scrape_classic_histograms__: "false",
  __convert_classic_histograms_to_nhcb__: "false",
  __metrics_path__: "/metrics",
  __param_module: "http_2xx",
  __scheme__: "http",
  __scrape_interval__: "1m",
  __scrape_native_histograms__: "true",
  __scrape_timeout__: "10s",
  instance: "10.0.0.1:80",
  job: "app",
};

function compiled(rules: readonly RelabelRule[], changes: Partial<ScrapeJob> = {}) {
  const compilation = relabelling({ ...job, rules, ...changes });
  if (!compilation.ok) throw new Error(JSON.stringify(compilation.faults));
  return compilation.relabelling;
}

function outcome(rules: readonly RelabelRule[], target: Record<string, string>, group: Record<string, string> = {}) {
  return compiled(rules).outcome(
    new Map(Object.entries(group)),
    new Map(Object.entries({ __address__: "10.0.0.1:80", ...target })),
  );
}

test("seeds a target with the labels of its job and sets instance", () => {
  const result = outcome([], { __meta_pod: "a" }, { __meta_namespace: "b" });
  expect(result.kind === "kept" && Object.fromEntries(result.labels)).toEqual(seeds);
});

test("names the rule that dropped a target", () => {
  const rules = [{ action: "keep", source_labels: ["__meta_ns"], regex: "shop" }];
  expect(outcome(rules, {}, { __meta_ns: "shop" }).kind).toBe("kept");
  expect(outcome(rules, {}, { __meta_ns: "shops" })).toEqual({ kind: "dropped", rule: 0 });
});
