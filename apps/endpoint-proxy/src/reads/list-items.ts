import { inserted, isEmpty, spanAt, textOf } from "./json-spans.ts";

/** On items of lists: the cluster that an item is of. */
export const CLUSTER = "evenkeel.io/cluster";

/** `namespace/name`, by which members sort their lists. An item of a Table has the object in `object`. */
export function keyOf(item: Buffer, isRow: boolean): string {
  const path = isRow ? ["object", "metadata"] : ["metadata"];
  return `${textOf(item, [...path, "namespace"]) ?? ""}/${textOf(item, [...path, "name"]) ?? ""}`;
}

/** An item with the annotation that names its cluster; the rest is the same bytes. */
export function withCluster(item: Buffer, cluster: string, isRow: boolean): Buffer {
  const path = isRow ? ["object", "metadata"] : ["metadata"];
  const metadata = spanAt(item, path);
  if (metadata === undefined || item[metadata.start] !== 0x7b) return item;
  const entry = `${JSON.stringify(CLUSTER)}:${JSON.stringify(cluster)}`;
  const annotations = spanAt(item, [...path, "annotations"]);
  if (annotations === undefined || item[annotations.start] !== 0x7b) {
    return inserted(item, metadata.start + 1, `"annotations":{${entry}}${isEmpty(item, metadata) ? "" : ","}`);
  }
  return inserted(item, annotations.start + 1, `${entry}${isEmpty(item, annotations) ? "" : ","}`);
}

/** A row with one more cell at its end. */
export function withCell(row: Buffer, cell: string): Buffer {
  const cells = spanAt(row, ["cells"]);
  if (cells === undefined) return row;
  return inserted(row, cells.end - 1, `${isEmpty(row, cells) ? "" : ","}${JSON.stringify(cell)}`);
}
