import type { ClusterSnapshot, PlanSnapshot, PodColumns } from "../../decide/snapshot.ts";

/**
 * A snapshot on its way to another thread. Copying objects blocks the thread that sends them, and 150,000 pods would
 * block it for most of a second. Texts and arrays of numbers are copied at once, and the texts are written in small
 * parts.
 */
export interface PackedSnapshot {
  readonly head: string;
  readonly tables: Readonly<Record<TableName, readonly string[]>>;
  readonly names: Readonly<Record<"uid" | "name", string>>;
  readonly numbers: Omit<PodColumns, "uid" | "name">;
}

const TABLES = ["nodes", "shapes", "owners", "disruptionBudgets"] as const satisfies (keyof ClusterSnapshot)[];
export type TableName = (typeof TABLES)[number];

/** Neither names nor uids contain it. */
export const SEPARATOR = "\n";

export function unpackSnapshot({ head, tables, names, numbers }: PackedSnapshot): PlanSnapshot {
  const { cluster, ...rest } = JSON.parse(head) as PlanSnapshot;
  const rows = (table: TableName): unknown[] => tables[table].flatMap((text) => JSON.parse(text) as unknown[]);
  const count = numbers.shape.length;
  const texts = (joined: string): readonly string[] => (count === 0 ? [] : joined.split(SEPARATOR));
  const pods: PodColumns = { ...numbers, uid: texts(names.uid), name: texts(names.name) };
  const read = Object.fromEntries(TABLES.map((table) => [table, rows(table)]));
  return { ...rest, cluster: { ...cluster, ...read, pods } };
}
