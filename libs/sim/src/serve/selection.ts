import type { StoredObject } from "../object.ts";
import { parseFieldSelector } from "../select/field-selector.ts";
import { parseLabelSelector } from "../select/label-selector.ts";
import { asVersion } from "../types/resource-type.ts";
import type { Route } from "./route.ts";

/** Whether an object is among those that a list or watch is about. */
export type Selection = (object: StoredObject) => boolean;

export function parseSelection({ type, namespace }: Route, query: URLSearchParams): Selection {
  const labels = parseLabelSelector(query.get("labelSelector") ?? "");
  const fields = parseFieldSelector(query.get("fieldSelector") ?? "", type.selectable);
  return (object) =>
    (namespace === undefined || object.metadata.namespace === namespace) &&
    labels(object.metadata.labels ?? {}) &&
    fields(asVersion(type, object));
}

/** The one name that a field selector leaves. */
export function selectedName(query: URLSearchParams): string | undefined {
  return /(?:^|,)metadata\.name==?([^,]+)/.exec(query.get("fieldSelector") ?? "")?.[1];
}

export const isTrue = (value: string | null): boolean => value === "true" || value === "1";
