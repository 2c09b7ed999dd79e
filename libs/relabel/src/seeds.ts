import { formatDuration, parseDuration } from "./duration.ts";
import { compareNames, type Labels } from "./labels.ts";
import type { JobFault, ScrapeJob } from "./relabelling.ts";

/** Labels that each target of a job has unless discovery gave it its own, in Prometheus's order. */
export function seeds(job: ScrapeJob): Labels | JobFault[] {
  const interval = parseDuration(job.scrapeInterval);
  const timeout = parseDuration(job.scrapeTimeout);
  const faults: JobFault[] = [];
  if (interval === undefined) faults.push(noDuration("scrape_interval", job.scrapeInterval));
  if (timeout === undefined) faults.push(noDuration("scrape_timeout", job.scrapeTimeout));
  if (interval === undefined || timeout === undefined) return faults;
  if (timeout > interval) {
    const message = `The timeout ${job.scrapeTimeout} is longer than the interval ${job.scrapeInterval}`;
    return [{ field: "scrape_timeout", message }];
  }
  const labels: [string, string][] = [
    ["job", job.jobName],
    ["__scrape_interval__", formatDuration(interval)],
    ["__scrape_timeout__", formatDuration(timeout)],
    ["__metrics_path__", job.metricsPath],
    ["__scheme__", job.scheme],
    ["__convert_classic_histograms_to_nhcb__", String(job.convertClassicHistograms)],
    ["__always_scrape_classic_histograms__", String(job.alwaysScrapeClassicHistograms)],
    ["__scrape_native_histograms__", String(job.scrapeNativeHistograms)],
  ];
  for (const name of [...job.params.keys()].sort(compareNames)) {
    labels.push([`__param_${name}`, job.params.get(name)?.[0] ?? ""]);
  }
  return new Map(labels.filter(([, value]) => value !== ""));
}

function noDuration(field: string, text: string): JobFault {
  return { field, message: `"${text}" is no duration such as 30s or 1m30s` };
}
