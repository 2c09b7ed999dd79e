import { TimeSlice } from "@evenkeel/kube";
import { systemClock } from "@evenkeel/runtime";
import type { ClusterSnapshot, PlanSnapshot, PodColumns } from "../../decide/snapshot.ts";

/**
 * A snapshot on its way to another thread. Copying objects blocks the thread that sends them, and 150,000 pods would block
 * it for most of a second. Texts and arrays of numbers are copied at once, and the texts are written in small parts.
 */
export interface PackedSnapshot {
  readonly head: string;
  readonly tables: Readonly<Record<TableName, readonly string[]>>;
  readonly names: Readonly<Record<"uid" | "name", string>>;
  readonly numbers: Omit<PodColumns, "uid" | "name">;
}

const TABLES = ["nodes", "shapes", "owners", "disruptionBudgets"] as const satisfies (keyof ClusterSnapshot)[];
type TableName = (typeof TABLES)[number];

/** Rows of a table that are written at once. */
const ROWS = 200;
/** Milliseconds of work after which other work of the event loop has its turn. */
const SLICE = 20;
/** Neither names nor uids contain it. */
const SEPARATOR = "\n";

export async function packSnapshot(snapshot: PlanSnapshot): Promise<PackedSnapshot> {
  const { cluster, ...rest } = snapshot;
  const { pods, nodes, shapes, owners, disruptionBudgets, ...others } = cluster;
  const { uid, name, ...numbers } = pods;
  const slice = new TimeSlice(systemClock, SLICE);
  const written = async (rows: readonly unknown[]): Promise<readonly string[]> => {
    const texts: string[] = [];
    for (let from = 0; from < rows.length; from += ROWS) {
      texts.push(JSON.stringify(rows.slice(from, from + ROWS)));
      if (slice.spent) await slice.rest();
    }
    return texts;
  };
  return {
    head: JSON.stringify({ ...rest, cluster: others }),
    tables: {
      nodes: await written(nodes),
      shapes: await written(shapes),
      owners: await written(owners),
      disruptionBudgets: await written(disruptionBudgets),
    },
    names: { uid: uid.join(SEPARATOR), name: name.join(SEPARATOR) },
    numbers,
  };
}

export function unpackSnapshot({ head, tables, names, numbers }: PackedSnapshot): PlanSnapshot {
  const { cluster, ...rest } = JSON.parse(head) as PlanSnapshot;
  const rows = (table: TableName): unknown[] => tables[table].flatMap((text) => JSON.parse(text) as unknown[]);
  const count = numbers.shape.length;
  const texts = (joined: string): readonly string[] => (count === 0 ? [] : joined.split(SEPARATOR));
  const pods: PodColumns = { ...numbers, uid: texts(names.uid), name: texts(names.name) };
  const read = Object.fromEntries(TABLES.map((table) => [table, rows(table)]));
  return { ...rest, cluster: { ...cluster, ...read, pods } };
}
