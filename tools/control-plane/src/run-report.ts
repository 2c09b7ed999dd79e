import { isAlive, type ProcessIdentity, residentBytes } from "./process-identity.ts";
import type { FoundRun } from "./run-folder.ts";
import type { RunRecord } from "./run-record.ts";

/** External input of a report. */
export interface ReportSources {
  readonly now: number;
  readonly isAlive: (identity: ProcessIdentity) => boolean;
  readonly residentBytes: (pid: number) => number | undefined;
}

/** Describes one run: its owner, and the memory of each component. */
export function reportRun({ folder, record, state }: FoundRun, sources: ReportSources = realSources()): string[] {
  const lines = [`${folder.id}: ${state}, ${ownerOf(record)}, ${record.nodes} nodes, ${record.server}`];
  if (state === "ended") return [...lines, `  ended ${record.endedAt ?? "with the machine"}, logs ${folder.logs}`];
  const startup = record.startupMs === null ? "still starting" : `ready in ${(record.startupMs / 1000).toFixed(1)} s`;
  lines.push(`  started ${age(sources.now - Date.parse(record.startedAt))} ago, ${startup}, logs ${folder.logs}`);
  lines.push(`  export KUBECONFIG=${folder.kubeconfig}`);
  let total = 0;
  for (const process of record.processes) {
    const bytes = sources.isAlive(process) ? sources.residentBytes(process.pid) : undefined;
    total += bytes ?? 0;
    lines.push(`  ${process.component.padEnd(24)} pid ${String(process.pid).padEnd(8)} ${megabytes(bytes)}`);
  }
  return [...lines, `  ${"all".padEnd(37)} ${megabytes(total)}`];
}

function realSources(): ReportSources {
  return { now: Date.now(), isAlive, residentBytes };
}

function ownerOf({ owner }: RunRecord): string {
  return owner === null ? "kept" : `owned by process ${owner.pid}`;
}

function megabytes(bytes: number | undefined): string {
  return bytes === undefined
    ? "not running"
    : `${Math.round(bytes / 1e6)
        .toString()
        .padStart(5)} MB`;
}

function age(milliseconds: number): string {
  const minutes = Math.floor(milliseconds / 60_000);
  if (minutes < 1) return `${Math.floor(milliseconds / 1000)} s`;
  return minutes < 120 ? `${minutes} min` : `${Math.floor(minutes / 60)} h`;
}
