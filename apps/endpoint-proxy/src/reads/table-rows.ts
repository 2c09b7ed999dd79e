import { at, isFields, type Json, listAt, numberAt, textAt, withValue } from "../bodies/json-text.ts";
import { isDivided, type Kind } from "../writes/verb-table.ts";
import { mergedCopy, mergedWorkload } from "./merged-object.ts";
import type { VersionLayout } from "./version-vector.ts";

/** A row of one member's Table. */
export interface MemberRow {
  readonly member: string;
  readonly row: Json;
  /** Names of the member's columns; they may differ between versions of Kubernetes. */
  readonly columns: readonly string[];
}

/** Last, because scripts count columns. */
const CLUSTER_COLUMN = {
  ...{ name: "Cluster", type: "string", format: "", priority: 0 },
  description: "The clusters that have this object.",
};

/** Columns of numbers that are added up, and the one that shows two of them as `3/4`. */
const SUMMED: readonly string[] = ["Up-to-date", "Available", "Desired", "Current"];
const READY = "Ready";

export function columnNames(definitions: readonly Json[]): readonly string[] {
  return definitions.map((column) => textAt(column, ["name"]) ?? "");
}

export function withClusterColumn(definitions: readonly Json[]): readonly Json[] {
  return [...definitions, CLUSTER_COLUMN];
}

/** The cells of a row in the order of the own cluster's columns; null where the member has no such column. */
export function cellsIn(columns: readonly string[], { row, columns: theirs }: MemberRow): readonly Json[] {
  const cells = listAt(row, ["cells"]);
  return columns.map((name) => cells[theirs.indexOf(name)] ?? null);
}

/** The rows of one object in several members as one row, with the clusters in the last cell. */
export function mergedRow(
  columns: readonly string[],
  rows: readonly MemberRow[],
  kind: Kind | undefined,
  layout: VersionLayout | undefined,
): Json {
  const cells = rows.map((row) => cellsIn(columns, row));
  const merged = columns.map((name, index): Json => {
    const values = cells.map((row) => row[index] ?? null);
    if (!isDivided(kind) || rows.length === 1) return values[0] ?? null;
    if (name === READY) return summedPairs(values);
    return SUMMED.includes(name)
      ? values.reduce<number>((sum, value) => sum + (numberAt(value, []) ?? 0), 0)
      : (values[0] ?? null);
  });
  const clusters = rows.map(({ member }) => member).join(",");
  const shown = withValue(rows[0]?.row ?? {}, ["cells"], [...merged, clusters]);
  const held = rows.map(({ member, row }) => ({
    member,
    object: at(row, ["object"]) ?? {},
  }));
  if (!isFields(at(shown, ["object"]))) return shown;
  const isWhole = isDivided(kind) && at(held[0]?.object, ["spec"]) !== undefined;
  return withValue(shown, ["object"], isWhole ? mergedWorkload(held, layout) : mergedCopy(held, layout));
}

function summedPairs(values: readonly Json[]): string {
  const pairs = values.map((value) => (typeof value === "string" ? value : "").split("/").map(Number));
  const side = (index: number): number => pairs.reduce((sum, pair) => sum + (pair[index] ?? 0), 0);
  return `${side(0)}/${side(1)}`;
}
