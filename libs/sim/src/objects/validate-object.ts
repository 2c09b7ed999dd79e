import { type Fields, fieldsOr, textOr } from "../json.ts";
import type { Rules } from "../schema/rules.ts";
import { validate } from "../schema/validate.ts";
import { badRequest, invalid } from "../status.ts";
import type { ResourceType } from "../types/resource-type.ts";
import { checkMetadata } from "./metadata-checks.ts";

/** Fails with Invalid, which names every field at fault, unless the object may be stored. */
export function validateObject(type: ResourceType, object: Fields, old: Fields | undefined, rules: Rules): void {
  const metadata = fieldsOr(object["metadata"]);
  const faults = validate(object, type.schema);
  const mistyped = faults.find((fault) => fault.type === true);
  // Built-in types are structs: what does not fit them does not get as far as validation.
  if (!type.custom && mistyped !== undefined) {
    const what = `${type.kind} in version "${type.version}" cannot be handled as a ${type.kind}`;
    throw badRequest(`${what}: json: cannot unmarshal ${mistyped.field}: ${mistyped.message}`);
  }
  const causes = [
    ...checkMetadata(type, metadata, old === undefined ? undefined : fieldsOr(old["metadata"])),
    ...faults.map(({ reason, message, field }) => ({ reason, message, field })),
    ...(faults.length > 0 ? [] : rules.check(object, old, type.schema)),
    ...(faults.length > 0 ? [] : (type.check?.(object, old) ?? [])),
  ];
  if (causes.length > 0) throw invalid(type, textOr(metadata["name"]), causes);
}
