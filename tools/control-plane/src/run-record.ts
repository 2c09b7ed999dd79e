import type { Host, ProcessIdentity } from "./process-identity.ts";

/** The parts of a cluster, in the order in which they start: either KWOK, or the three programs of a real node. */
export const COMPONENTS = [
  "etcd",
  "containerd",
  "kube-apiserver",
  "kube-controller-manager",
  "kube-scheduler",
  "kwok",
  "kubelet",
  "kube-proxy",
] as const;

export type ComponentName = (typeof COMPONENTS)[number];

export interface ComponentProcess extends ProcessIdentity {
  readonly component: ComponentName;
}

/** The record of a run's real node. */
export interface RealNodeRecord {
  /** Folder of the node's programs. */
  readonly bin: string;
}

/** What other processes know of a started cluster. Stored as run.json in the run's folder. */
export interface RunRecord {
  readonly name: string;
  readonly host: Host;
  /** The process that owns the cluster; null for a kept cluster, which runs until it is stopped. */
  readonly owner: ProcessIdentity | null;
  /** RFC 3339. */
  readonly startedAt: string;
  /** RFC 3339; null while it runs. */
  readonly endedAt: string | null;
  /** Milliseconds from the first process to ready nodes; null while it starts. */
  readonly startupMs: number | null;
  readonly server: string;
  readonly nodes: number;
  /** Folder of its programs. */
  readonly bin: string;
  /** Null with KWOK nodes. */
  readonly realNode: RealNodeRecord | null;
  readonly processes: readonly ComponentProcess[];
}

/**
 * - `running`: its owner is alive, or without an owner one of its processes.
 * - `stale`: its owner is gone and processes may be left.
 * - `ended`: nothing is left but files.
 * - `foreign`: it belongs to another pid namespace of this machine, from here its processes cannot be judged.
 */
export type RunState = "running" | "stale" | "ended" | "foreign";

export function judgeRun(record: RunRecord, host: Host, isAlive: (identity: ProcessIdentity) => boolean): RunState {
  if (record.endedAt !== null || record.host.boot !== host.boot) return "ended";
  if (record.host.pidNamespace !== host.pidNamespace) return "foreign";
  if (record.owner !== null) return isAlive(record.owner) ? "running" : "stale";
  if (record.processes.some(isAlive)) return "running";
  // Containers, mounts and namespaces remain after the programs that created them.
  return record.realNode === null ? "ended" : "stale";
}

/** Parses a record with unknown content. Throws with the first error. */
export function parseRunRecord(text: string): RunRecord {
  const record = objectOf(JSON.parse(text), "record");
  const host = objectOf(record["host"], "host");
  if (!Array.isArray(record["processes"])) throw new Error("processes is not a list");
  return {
    name: stringOf(record["name"], "name"),
    host: { boot: stringOf(host["boot"], "boot"), pidNamespace: stringOf(host["pidNamespace"], "pidNamespace") },
    owner: record["owner"] === null ? null : identityOf(record["owner"], "owner"),
    startedAt: stringOf(record["startedAt"], "startedAt"),
    endedAt: record["endedAt"] === null ? null : stringOf(record["endedAt"], "endedAt"),
    startupMs: record["startupMs"] === null ? null : countOf(record["startupMs"], "startupMs"),
    server: stringOf(record["server"], "server"),
    nodes: countOf(record["nodes"], "nodes"),
    bin: stringOf(record["bin"], "bin"),
    realNode: realNodeOf(record["realNode"] ?? null),
    processes: record["processes"].map((entry: unknown) => {
      const component = COMPONENTS.find((name) => name === objectOf(entry, "process")["component"]);
      if (component === undefined) throw new Error("a process is of no known component");
      return { component, ...identityOf(entry, component) };
    }),
  };
}

function realNodeOf(value: unknown): RealNodeRecord | null {
  if (value === null) return null;
  return { bin: stringOf(objectOf(value, "realNode")["bin"], "bin of realNode") };
}

function identityOf(value: unknown, what: string): ProcessIdentity {
  const { pid, startTicks } = objectOf(value, what);
  const identity = { pid: countOf(pid, `pid of ${what}`), startTicks: countOf(startTicks, `startTicks of ${what}`) };
  // For kill(2), pid 0 and below mean process groups, and pid 1 is never ours.
  if (identity.pid <= 1) throw new Error(`pid of ${what} is ${identity.pid}`);
  return identity;
}

function objectOf(value: unknown, what: string): Record<string, unknown> {
  if (typeof value !== "object" || value === null) throw new Error(`${what} is not an object`);
  return value as Record<string, unknown>;
}

function stringOf(value: unknown, what: string): string {
  if (typeof value !== "string") throw new Error(`${what} is not a string`);
  return value;
}

function countOf(value: unknown, what: string): number {
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 0) throw new Error(`${what} is not a count`);
  return value;
}
