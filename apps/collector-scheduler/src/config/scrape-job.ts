import { prometheusMilliseconds, type ScrapeJob } from "@evenkeel/relabel";
import type { GlobalConfig, ScrapeConfig } from "./scrape-config.ts";

/** Prometheus's defaults. */
const INTERVAL = "1m";
const TIMEOUT = "10s";

/** What the job seeds its targets with, and its rules, with the values of `global` filled in as Prometheus does. */
export function scrapeJobOf(config: ScrapeConfig, global: GlobalConfig): ScrapeJob {
  const interval = given(config.scrape_interval) ?? given(global.scrape_interval) ?? INTERVAL;
  return {
    jobName: config.job_name,
    scheme: config.scheme ?? "http",
    metricsPath: config.metrics_path ?? "/metrics",
    scrapeInterval: interval,
    scrapeTimeout: given(config.scrape_timeout) ?? shorter(globalTimeout(global), interval),
    params: new Map(Object.entries(config.params ?? {})),
    convertClassicHistograms:
      config.convert_classic_histograms_to_nhcb ?? global.convert_classic_histograms_to_nhcb ?? false,
    alwaysScrapeClassicHistograms:
      config.always_scrape_classic_histograms ?? global.always_scrape_classic_histograms ?? false,
    scrapeNativeHistograms: config.scrape_native_histograms ?? global.scrape_native_histograms ?? false,
    names: config.metric_name_validation_scheme ?? global.metric_name_validation_scheme ?? "utf8",
    rules: config.relabel_configs ?? [],
  };
}

function globalTimeout({ scrape_timeout, scrape_interval }: GlobalConfig): string {
  return given(scrape_timeout) ?? shorter(TIMEOUT, given(scrape_interval) ?? INTERVAL);
}

/** Prometheus takes 0 for a value that is not set. */
function given(duration: string | undefined): string | undefined {
  return duration !== undefined && (prometheusMilliseconds(duration) ?? 0) > 0 ? duration : undefined;
}

function shorter(one: string, other: string): string {
  return (prometheusMilliseconds(one) ?? 0) <= (prometheusMilliseconds(other) ?? 0) ? one : other;
}
