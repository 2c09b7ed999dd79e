import { spawn } from "node:child_process";
import type { ScrapeJob } from "@evenkeel/relabel";
import { telemetryBin } from "./build.ts";

type LabelRecord = Readonly<Record<string, string>>;

/** A target, as discovery found it, of a job. */
export interface OracleQuestion {
  /** With the names and values that Prometheus's configuration has. */
  readonly job: Readonly<Record<string, unknown>>;
  readonly group: LabelRecord;
  readonly target: LabelRecord;
  /** Whether the labels after each rule are wanted, too. */
  readonly steps?: boolean;
}

/** Exactly one of `labels`, `dropped`, `fault` and `refused`. */
export interface OracleAnswer {
  readonly labels?: LabelRecord;
  readonly dropped?: true;
  /** Why the target cannot be scraped. */
  readonly fault?: string;
  /** Why Prometheus would not load the job. */
  readonly refused?: string;
  /** After each rule; the last is null if that rule dropped the target. */
  readonly steps?: readonly (LabelRecord | null)[];
}

/** What Prometheus's own library makes of each target. */
export async function askOracle(questions: readonly OracleQuestion[]): Promise<OracleAnswer[]> {
  const oracle = spawn(await telemetryBin("relabel-oracle"), { stdio: ["pipe", "pipe", "pipe"] });
  let answers = "";
  let complaint = "";
  oracle.stdout.setEncoding("utf8").on("data", (text: string) => (answers += text));
  oracle.stderr.setEncoding("utf8").on("data", (text: string) => (complaint += text));
  const { promise, resolve, reject } = Promise.withResolvers<number | null>();
  oracle.on("error", reject).on("close", resolve);
  // An oracle that ended early says why on its standard error; the broken pipe says nothing more.
  oracle.stdin.on("error", () => undefined).end(questions.map((one) => `${lineOf(one)}\n`).join(""));
  const code = await promise;
  if (code !== 0) throw new Error(`relabel-oracle ended with code ${code ?? "unknown"}: ${complaint.trim()}`);
  const lines = answers.split("\n").slice(0, -1);
  return lines.map((line) => JSON.parse(line) as OracleAnswer);
}

/** Known to Node, not yet to TypeScript's library. */
const { rawJSON } = JSON as typeof JSON & { readonly rawJSON: (text: string) => unknown };

/** A modulus may need 64 bits. */
function lineOf(question: OracleQuestion): string {
  return JSON.stringify(question, (_, value: unknown) =>
    typeof value === "bigint" ? rawJSON(value.toString()) : value,
  );
}

/** A job as a scrape config of Prometheus. */
export function scrapeConfigOf(job: ScrapeJob): Record<string, unknown> {
  return {
    job_name: job.jobName,
    scheme: job.scheme,
    metrics_path: job.metricsPath,
    scrape_interval: job.scrapeInterval,
    scrape_timeout: job.scrapeTimeout,
    params: Object.fromEntries(job.params),
    convert_classic_histograms_to_nhcb: job.convertClassicHistograms,
    always_scrape_classic_histograms: job.alwaysScrapeClassicHistograms,
    scrape_native_histograms: job.scrapeNativeHistograms,
    metric_name_validation_scheme: job.names,
    relabel_configs: job.rules,
  };
}
