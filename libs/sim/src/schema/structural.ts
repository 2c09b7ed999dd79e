import { isFields } from "../json.ts";
import { type Cause, invalidValue, requiredValue } from "../status.ts";
import { Rules } from "./rules.ts";
import type { Schema } from "./schema.ts";

/** Why a definition's schema cannot be served: where it is not structural, and the rules that cannot be read. */
export function schemaFaults(schema: Schema, path: string): Cause[] {
  return [
    ...(schema.type === "object" ? [] : [requiredValue(`${path}.type`, "must be object at the root")]),
    ...faults(schema, path),
  ];
}

function faults(schema: Schema, path: string): Cause[] {
  return [
    ...ruleFaults(schema, path),
    ...listFaults(schema, path),
    ...Object.entries(schema.properties ?? {}).flatMap(([key, entry]) =>
      below(entry, `${path}.properties[${key}]`, "object fields"),
    ),
    ...(isFields(schema.additionalProperties)
      ? below(schema.additionalProperties, `${path}.additionalProperties`, "object fields")
      : []),
    ...(schema.items === undefined ? [] : below(schema.items, `${path}.items`, "array items")),
  ];
}

function below(schema: Schema, path: string, where: string): Cause[] {
  const open = schema["x-kubernetes-int-or-string"] === true || schema["x-kubernetes-preserve-unknown-fields"] === true;
  const typeless = schema.type === undefined && !open;
  return [
    ...(typeless ? [requiredValue(`${path}.type`, `must not be empty for specified ${where}`)] : []),
    ...faults(schema, path),
  ];
}

function listFaults(schema: Schema, path: string): Cause[] {
  if (schema.type === "array" && schema.items === undefined)
    return [requiredValue(`${path}.items`, "must be specified")];
  const keys = schema["x-kubernetes-list-map-keys"] ?? [];
  if (schema["x-kubernetes-list-type"] !== "map") return [];
  if (keys.length === 0) return [requiredValue(`${path}.x-kubernetes-list-map-keys`, "must not be empty for a map")];
  return keys
    .filter((key) => schema.items?.properties?.[key] === undefined)
    .map((key) => invalidValue(`${path}.x-kubernetes-list-map-keys`, key, "must name a property of the items"));
}

function ruleFaults(schema: Schema, path: string): Cause[] {
  const rules = new Rules();
  return (schema["x-kubernetes-validations"] ?? []).flatMap((rule, index) => {
    const fault = rules.faultOf(rule, schema);
    if (fault === undefined) return [];
    const field = `${path}.x-kubernetes-validations[${index}].rule`;
    return [invalidValue(field, rule.rule, `compilation failed: ${fault}`)];
  });
}
