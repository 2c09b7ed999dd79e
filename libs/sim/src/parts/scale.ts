import { type Fields, fieldsOr, isFields, omit, textOr, valueAt, withValueAt } from "../json.ts";
import type { StoredObject } from "../object.ts";
import type { Objects, Place, WriteOptions, Written } from "../objects/objects.ts";
import { selectorText } from "../select/label-selector.ts";
import { badRequest, invalid, invalidValue, noSuchPath, outdated } from "../status.ts";
import { apiVersionOf, type ResourceType, type ScalePaths } from "../types/resource-type.ts";

const scaleKind = { group: "autoscaling", kind: "Scale" };

/** An object as a Scale. */
export function scaleOf(type: ResourceType, object: StoredObject): Fields {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const paths = pathsOf(type);
  const selector = paths.selector === undefined ? undefined : valueAt(object, paths.selector);
  const shown = isFields(selector) ? selectorText(selector) : textOr(selector);
  const replicas = countAt(object, paths.replicas);
  return {
    ...{ kind: "Scale", apiVersion: "autoscaling/v1" },
    metadata: omit({ name, namespace, uid, resourceVersion, creationTimestamp }),
    // Go leaves a zero out of spec, and not out of status.
    spec: replicas === 0 ? {} : { replicas },
    status: { replicas: countAt(object, paths.statusReplicas), ...(shown === "" ? {} : { selector: shown }) },
  };
}

/** Writes what `change` makes of an object's Scale into the object. */
export function updateScale(
  objects: Objects,
  type: ResourceType,
  place: Place,
  change: (scale: Fields) => unknown,
  options: WriteOptions,
): Written {
  const { replicas } = pathsOf(type);
  const written = (old: StoredObject): unknown => {
    const scale = change(scaleOf(type, old));
    const given = textOr(valueAt(scale, ["metadata", "resourceVersion"]));
    if (given !== "" && given !== old.metadata.resourceVersion) throw outdated(type, place.name);
    return withValueAt(old, replicas, replicasOf(scale, place.name));
  };
  return objects.update(type, place, written, { ...options, subresource: "scale" });
}

/** Applies a Scale: its manager owns the replicas of the object. */
export function applyScale(
  objects: Objects,
  type: ResourceType,
  place: Place,
  scale: unknown,
  options: WriteOptions,
): Written {
  const config = { apiVersion: apiVersionOf(type), kind: type.kind };
  const stated = withValueAt(config, pathsOf(type).replicas, replicasOf(scale, place.name));
  return objects.apply(type, place, stated, { ...options, subresource: "scale" });
}

function pathsOf(type: ResourceType): ScalePaths {
  if (type.scale === undefined) throw noSuchPath();
  return type.scale;
}

function replicasOf(scale: unknown, name: string): number {
  const replicas = fieldsOr(fieldsOr(scale)["spec"])["replicas"] ?? 0;
  if (typeof replicas !== "number" || !Number.isInteger(replicas)) {
    throw badRequest("Scale cannot be handled: spec.replicas is no whole number");
  }
  if (replicas >= 0) return replicas;
  throw invalid(scaleKind, name, [invalidValue("spec.replicas", replicas, "must be greater than or equal to 0")]);
}

function countAt(object: StoredObject, path: readonly string[]): number {
  const value = valueAt(object, path);
  return typeof value === "number" ? value : 0;
}
