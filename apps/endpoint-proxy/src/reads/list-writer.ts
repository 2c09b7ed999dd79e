import { parseJson, writeJson } from "../bodies/json-text.ts";
import { isCopied, type Kind } from "../writes/verb-table.ts";
import { withCell, withCluster } from "./list-items.ts";
import { mergedObject } from "./named-read.ts";
import { cellsIn, mergedRow } from "./table-rows.ts";
import type { VersionLayout } from "./version-vector.ts";

export interface ListShape {
  readonly isTable: boolean;
  readonly kind: Kind | undefined;
  /** The columns of the answer, without the cluster's. */
  readonly columns: readonly string[];
  readonly layout: VersionLayout | undefined;
}

/** Items of the same key in different members. */
interface MemberItem {
  readonly member: { readonly name: string };
  readonly item: Buffer | undefined;
  readonly columns: readonly string[];
}

/** The items as text: one for copied kinds, else one for each member, with the cluster that it is of. */
export function writeItem(shape: ListShape, group: readonly MemberItem[]): readonly (Buffer | string)[] {
  const { isTable, kind, columns, layout } = shape;
  if (isCopied(kind)) {
    const parsed = group.map(({ member, item, columns }) => ({
      ...{ member: member.name, columns },
      json: parseJson((item ?? Buffer.from("{}")).toString()),
    }));
    if (isTable) {
      const rows = parsed.map(({ member, json, columns }) => ({
        member,
        row: json,
        columns,
      }));
      return [writeJson(mergedRow(columns, rows, kind, layout))];
    }
    const held = parsed.map(({ member, json }) => ({ member, object: json }));
    return [writeJson(mergedObject(held, kind, layout))];
  }
  return group.flatMap(({ member, item, columns: theirs }): (Buffer | string)[] => {
    if (item === undefined) return [];
    const marked = withCluster(item, member.name, isTable);
    if (!isTable) return [marked];
    if (theirs.join("\n") === columns.join("\n")) return [withCell(marked, member.name)];
    const row = parseJson(marked.toString());
    const cells = cellsIn(columns, {
      member: member.name,
      row,
      columns: theirs,
    });
    return [writeJson({ ...(row as object), cells: [...cells, member.name] })];
  });
}
