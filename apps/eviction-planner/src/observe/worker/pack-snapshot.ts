import { TimeSlice } from "@evenkeel/kube";
import { systemClock } from "@evenkeel/runtime";
import type { PlanSnapshot } from "../../decide/snapshot.ts";
import { type PackedSnapshot, SEPARATOR } from "./packed-snapshot.ts";

/** Rows of a table that are written at once. */
const ROWS = 200;
/** Milliseconds of work after which other work of the event loop has its turn. */
const SLICE = 20;
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
