import {
  prometheusMilliseconds,
  relabelling,
  type Relabelling,
  type RelabelRule,
  type ScrapeJob,
} from "@evenkeel/relabel";
import { type Fields, isFields, without } from "./configuration-text.ts";
import type { PodEnvironment } from "./environment.ts";
import { expand } from "./expand.ts";
import { type ConfigFault, fieldName } from "./fault.ts";
import { contradictionOf, type GlobalConfig, scrapeConfig } from "./scrape-config.ts";
import { scrapeJobOf } from "./scrape-job.ts";
import { type SecretFiles, withoutSecrets } from "./secret-files.ts";
import { unservable } from "./served-text.ts";
import { WrittenScalar } from "./written-scalar.ts";

/** A job of a receiver, proven valid. */
export interface CollectorJob {
  /** Receiver and job, as `prometheus/x/job`. */
  readonly key: string;
  /** Such as `prometheus/x`. */
  readonly receiver: string;
  readonly name: string;
  readonly scrape: ScrapeJob;
  /** Its target rules, compiled. */
  readonly relabelling: Relabelling;
  /** The job's discovery configuration as it is written, by field: `{ "static_configs": […] }`. */
  readonly discovery: Fields;
  /** The scrape configuration that collectors get: without discovery, target relabelling and secrets. */
  readonly served: Fields;
  readonly secretFiles: SecretFiles;
}

export interface JobReading {
  readonly job?: CollectorJob;
  readonly faults: readonly ConfigFault[];
}

const DISCOVERY = /^(static_configs|.+_sd_configs)$/;

export interface JobContext {
  readonly receiver: string;
  readonly environment: PodEnvironment;
  readonly global: GlobalConfig;
}

/** Reads one entry of `scrape_configs`. What cannot be used is a fault, and then there is no job. */
export function readJob(entry: unknown, index: number, context: JobContext): JobReading {
  const { receiver, environment, global } = context;
  const key = `${receiver}/${nameOf(entry) ?? `scrape_configs[${index}]`}`;
  const failed = (faults: readonly ConfigFault[]): JobReading => ({
    faults: faults.map((fault) => ({ ...fault, job: key })),
  });
  if (!isFields(entry)) return failed([{ field: "", message: "expected a map of fields" }]);
  const { value, faults } = expand(entry, environment);
  if (faults.length > 0) return failed(faults);
  const [discovery, rest] = parted(value as Fields);
  const parsed = scrapeConfig.safeParse(rest);
  if (!parsed.success) {
    return failed(parsed.error.issues.map(({ path, message }) => ({ field: fieldName(path), message })));
  }
  const contradiction = contradictionOf(parsed.data, global);
  if (contradiction !== undefined) return failed([contradiction]);
  const scrape = scrapeJobOf(parsed.data, global);
  if (milliseconds(scrape.scrapeTimeout) > milliseconds(scrape.scrapeInterval)) {
    const message = `${scrape.scrapeTimeout} is above the scrape interval ${scrape.scrapeInterval}`;
    return failed([{ field: "scrape_timeout", message }]);
  }
  const { metric_relabel_configs } = parsed.data;
  const compiled = relabelling(scrape);
  const ofMetrics = relabelling({ ...scrape, rules: metric_relabel_configs ?? [] });
  if (!compiled.ok) return failed(compiled.faults);
  if (!ofMetrics.ok) return failed(ofMetrics.faults.map(metricFault));
  const moved = withoutSecrets(key, parsed.data);
  if (!moved.ok) return failed([{ field: moved.field, message: moved.message }]);
  const metricRules = metric_relabel_configs && { metric_relabel_configs: metric_relabel_configs.map(servedRule) };
  const served = { ...without(moved.config, "relabel_configs"), ...metricRules };
  const { files: secretFiles } = moved;
  const { jobName: name } = scrape;
  const unread = unservable(name, served);
  if (unread !== undefined) return failed([unread]);
  const job = { key, receiver, name, scrape, relabelling: compiled.relabelling, discovery, served, secretFiles };
  return { job, faults: [] };
}

function nameOf(entry: unknown): string | undefined {
  const name = isFields(entry) ? entry["job_name"] : undefined;
  const isText = typeof name === "string" || typeof name === "number" || name instanceof WrittenScalar;
  return isText ? String(name) : undefined;
}

function parted(entry: Fields): readonly [discovery: Fields, rest: Fields] {
  const entries = Object.entries(entry);
  const isDiscovery = ([name]: readonly [string, unknown]) => DISCOVERY.test(name);
  return [
    Object.fromEntries(entries.filter(isDiscovery)),
    Object.fromEntries(entries.filter((field) => !isDiscovery(field))),
  ];
}

function metricFault({ field, message }: ConfigFault): ConfigFault {
  return { field: field.replace(/^relabel_configs/, "metric_relabel_configs"), message };
}

/** Prometheus before 2.43 refuses a regex, even its own default, in these rules when it reads JSON. */
function servedRule(rule: RelabelRule): RelabelRule {
  return ["keepequal", "dropequal"].includes(rule.action?.toLowerCase() ?? "") ? without({ ...rule }, "regex") : rule;
}

function milliseconds(duration: string): number {
  return prometheusMilliseconds(duration) ?? 0;
}
