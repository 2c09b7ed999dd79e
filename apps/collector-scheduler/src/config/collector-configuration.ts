import { type CollectorJob, type JobContext, readJob } from "./collector-job.ts";
import { configurationText, type Fields, isFields, parseConfiguration, without } from "./configuration-text.ts";
import type { PodEnvironment } from "./environment.ts";
import { expand } from "./expand.ts";
import { type ConfigFault, fieldName } from "./fault.ts";
import { globalConfig } from "./scrape-config.ts";

/** The configuration of collectors, read. */
export interface CollectorConfiguration {
  /** Valid ones, in the order of the configuration. */
  readonly jobs: readonly CollectorJob[];
  readonly faults: readonly ConfigFault[];
  /** Names of the receivers whose targets are served, such as `prometheus` and `prometheus/x`. */
  readonly receivers: readonly string[];
  /** How many jobs each receiver names, the faulty ones included. */
  readonly jobCounts: ReadonlyMap<string, number>;
  readonly parsed: Fields;
}

const RECEIVER = /^prometheus(\/.+)?$/;

/**
 * Reads the text of `collectorConfig`. A job that cannot be used is a fault, and the others go on. Throws a SyntaxError
 * if the text cannot be read at all.
 */
export function readConfiguration(text: string, environment: PodEnvironment): CollectorConfiguration {
  const parsed = parseConfiguration(text);
  const receivers = isFields(parsed["receivers"]) ? parsed["receivers"] : {};
  const names = Object.keys(receivers).filter((name) => RECEIVER.test(name));
  if (names.length === 0) throw new SyntaxError("it has no receiver named prometheus or prometheus/…: add one");
  const readings = names.map((name) => readReceiver(name, receivers[name], environment));
  return {
    jobs: readings.flatMap(({ jobs }) => jobs),
    faults: readings.flatMap(({ faults }) => faults),
    jobCounts: new Map(readings.map(({ jobCount }, index) => [names[index] ?? "", jobCount])),
    receivers: names,
    parsed,
  };
}

interface ReceiverReading extends Pick<CollectorConfiguration, "jobs" | "faults"> {
  readonly jobCount: number;
}

function readReceiver(receiver: string, fields: unknown, environment: PodEnvironment): ReceiverReading {
  const config = isFields(fields) && isFields(fields["config"]) ? fields["config"] : {};
  const { global, faults } = readGlobal(receiver, config["global"] ?? {}, environment);
  const files = config["scrape_config_files"];
  if (files !== undefined) {
    const message = "these files are in the collectors and each of them would scrape all targets: write the jobs out";
    faults.push({ field: `receivers.${receiver}.config.scrape_config_files`, message });
  }
  const entries = config["scrape_configs"] ?? [];
  if (!Array.isArray(entries)) {
    faults.push({ field: `receivers.${receiver}.config.scrape_configs`, message: "expected a list of jobs" });
    return { jobs: [], faults, jobCount: 1 };
  }
  const context: JobContext = { environment, receiver, global };
  const jobs = new Map<string, CollectorJob>();
  entries.forEach((entry, index) => {
    const reading = readJob(entry, index, context);
    faults.push(...reading.faults);
    if (reading.job === undefined) return;
    const { key } = reading.job;
    if (jobs.has(key))
      faults.push({ job: key, field: "job_name", message: "another job of this receiver has the same name" });
    else jobs.set(key, reading.job);
  });
  return { jobs: [...jobs.values()], faults, jobCount: entries.length };
}

function readGlobal(receiver: string, fields: unknown, environment: PodEnvironment) {
  const where = `receivers.${receiver}.config.global`;
  const named = ({ field, message }: ConfigFault): ConfigFault => ({ field: `${where}.${field}`, message });
  const { value, faults } = expand(fields, environment);
  const parsed = globalConfig.safeParse(value);
  if (parsed.success) return { global: parsed.data, faults: faults.map(named) };
  const found = parsed.error.issues.map(({ path, message }) => named({ field: fieldName(path), message }));
  return { global: {}, faults: [...faults.map(named), ...found] };
}

export interface TargetAllocator {
  /** Of the receiver, such as `http://collector-scheduler:8082/collectors/default/sample`. */
  readonly endpoint: (receiver: string) => string;
  /** Milliseconds between two polls of a collector. */
  readonly refresh: number;
  /** File in the collectors' pods with the CA that signed our certificate; absent without TLS. */
  readonly caFile?: string;
}

/** The variable of a pod by which its collector names itself. */
export const POD_NAME = "POD_NAME";

/**
 * The configuration that collectors load: each receiver asks for its jobs and targets instead of discovering them.
 * `global` stays, because collectors use it for the jobs that they are given.
 */
export function rewritten({ parsed, receivers }: CollectorConfiguration, allocator: TargetAllocator): string {
  const all = parsed["receivers"] as Fields;
  const replaced = receivers.map((name) => [name, rewrittenReceiver(name, all[name], allocator)] as const);
  return configurationText({ ...parsed, receivers: { ...all, ...Object.fromEntries(replaced) } });
}

function rewrittenReceiver(name: string, fields: unknown, { endpoint, refresh, caFile }: TargetAllocator): Fields {
  const given = isFields(fields) ? fields : {};
  const config = isFields(given["config"]) ? given["config"] : {};
  const allocator = isFields(given["target_allocator"]) ? given["target_allocator"] : {};
  // Both Go and Prometheus read this form.
  const period = refresh % 1000 === 0 ? `${refresh / 1000}s` : `${refresh}ms`;
  return {
    ...given,
    config: without(config, "scrape_configs", "scrape_config_files"),
    target_allocator: {
      ...allocator,
      endpoint: endpoint(name),
      interval: period,
      collector_id: `\${env:${POD_NAME}}`,
      http_sd_config: { refresh_interval: period },
      ...(caFile !== undefined && { tls: { ca_file: caFile } }),
    },
  };
}
