import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { telemetryBin } from "./build.ts";

type LabelRecord = Readonly<Record<string, string>>;

export interface DiscoveredTarget {
  /** Before relabelling, with what the job seeds. */
  readonly discoveredLabels: LabelRecord;
  /** After relabelling; empty if the target was dropped or is invalid. */
  readonly labels: LabelRecord;
}

export interface DiscoverOptions {
  /** How long Prometheus's discovery may run. It always takes all of it. In seconds. */
  readonly seconds?: number;
}

/**
 * The targets that Prometheus finds for a scrape config, in no order, by `promtool check service-discovery`. A group
 * that changes meanwhile is told with all its targets, old and new.
 */
export async function discoveredBy(
  job: Readonly<Record<string, unknown>> & { readonly job_name: string },
  { seconds = 3 }: DiscoverOptions = {},
): Promise<DiscoveredTarget[]> {
  const promtool = await telemetryBin("promtool");
  const folder = mkdtempSync(join(tmpdir(), "promtool-"));
  try {
    const file = join(folder, "prometheus.yaml");
    writeFileSync(file, JSON.stringify({ scrape_configs: [job] }));
    const flags = ["check", "service-discovery", `--timeout=${seconds}s`, file, job.job_name];
    const { stdout } = await promisify(execFile)(promtool, flags, { maxBuffer: 64 << 20 });
    return JSON.parse(stdout) as DiscoveredTarget[];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
