import { type Fields, fieldsOr, isFields, omit, textOr } from "../json.ts";
import { withDefaults } from "../schema/default.ts";
import { prune } from "../schema/prune.ts";
import { badRequest } from "../status.ts";
import { apiVersionOf, type ResourceType } from "../types/resource-type.ts";

export type FieldValidation = "Strict" | "Warn" | "Ignore";

export interface Decoded {
  readonly object: Fields & { readonly metadata: Fields };
  /** What the answer's Warning headers say. */
  readonly warnings: readonly string[];
}

const EMPTIABLE = ["labels", "annotations", "finalizers", "ownerReferences"];

/**
 * A body as an object of the type: fields that the type does not know are gone, defaults are filled in. Fails with
 * BadRequest if it is of another type, or has unknown fields and the caller is strict about them.
 */
export function decode(type: ResourceType, body: unknown, validation: FieldValidation): Decoded {
  if (!isFields(body)) throw badRequest(`the object provided is not of kind ${type.kind}: it is no object`);
  refuseOther(type, "apiVersion", apiVersionOf(type), body["apiVersion"]);
  refuseOther(type, "kind", type.kind, body["kind"]);
  const { value, unknown } = prune(body, type.schema);
  const found = unknown.map((path) => `unknown field "${path}"`);
  if (validation === "Strict" && found.length > 0) {
    const what = `${type.kind} in version "${type.version}" cannot be handled as a ${type.kind}`;
    throw badRequest(`${what}: strict decoding error: ${found.join(", ")}`);
  }
  const given = fieldsOr(withDefaults(value, type.schema));
  const object = type.normalize?.(given) ?? given;
  return {
    object: {
      ...object,
      apiVersion: apiVersionOf(type),
      kind: type.kind,
      metadata: tidied(fieldsOr(object["metadata"])),
    },
    warnings: validation === "Warn" ? found : [],
  };
}

function refuseOther(type: ResourceType, field: string, expected: string, found: unknown): void {
  if (found === undefined || found === expected) return;
  throw badRequest(
    `the ${field} in the data (${textOr(found, "none")}) does not match the expected ${field} (${expected}) of ${type.plural}`,
  );
}

/** Labels and lists that are empty are not kept. */
function tidied(metadata: Fields): Fields {
  const empty = EMPTIABLE.filter(
    (key) => Object.keys(fieldsOr({ ...(metadata[key] as object | undefined) })).length === 0,
  );
  return omit(metadata, ...empty);
}
