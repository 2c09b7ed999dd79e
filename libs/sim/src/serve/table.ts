import { type Fields, fieldsOr, isList, textOr } from "../json.ts";
import type { StoredObject } from "../object.ts";
import type { Column, ResourceType } from "../types/resource-type.ts";
import { age } from "./age.ts";
import type { Page } from "./list.ts";

/** Objects as the rows that kubectl shows. `now` in milliseconds since the epoch. */
export function tableOf(
  type: ResourceType,
  objects: readonly StoredObject[],
  metadata: Page["metadata"] | Fields,
  now: number,
): Fields {
  return {
    ...{ kind: "Table", apiVersion: "meta.k8s.io/v1", metadata },
    columnDefinitions: type.columns.map(({ name, type: kind, format = "", description = "", priority = 0 }) => {
      return { name, type: kind, format, description, priority };
    }),
    rows: objects.map((object) => ({
      cells: type.columns.map((column) => cellOf(column, object, now)),
      object: { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata: object.metadata },
    })),
  };
}

function cellOf({ cell, jsonPath = "", type }: Column, object: StoredObject, now: number): unknown {
  if (cell !== undefined) return cell(object, now);
  const value = atPath(object, jsonPath);
  return type === "date" && value !== null ? age(value, now) : value;
}

/**
 * The value at a simple JSON path: `.a.b`, `.a[0]`, `.a[?(@.type=="Ready")].status`, `.a['b.c']`; null if there is
 * none.
 */
function atPath(object: unknown, path: string): unknown {
  let at: unknown = object;
  const steps = path.matchAll(
    /\[\?\(@\.([\w-]+)\s*==\s*["']([^"']*)["']\)\]|\[['"]([^'"]+)['"]\]|\[(\d+)\]|\.((?:\\.|[^.[\\])+)/g,
  );
  for (const [, filterKey, filterValue, quoted, index, key] of steps) {
    if (filterKey !== undefined)
      at = isList(at) ? at.find((item) => textOr(fieldsOr(item)[filterKey]) === filterValue) : undefined;
    else if (index !== undefined) at = isList(at) ? at[Number(index)] : undefined;
    else at = fieldsOr(at)[quoted ?? key?.replaceAll("\\", "") ?? ""];
  }
  return at ?? null;
}
