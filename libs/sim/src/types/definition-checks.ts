import { type Fields, fieldsOr, isFields, listOr, textOr, valueAt } from "../json.ts";
import { schemaFaults } from "../schema/structural.ts";
import { type Cause, invalidValue, requiredValue } from "../status.ts";

/** What must hold of a definition before its type can be served. */
export function checkDefinition(object: Fields): readonly Cause[] {
  const spec = fieldsOr(object["spec"]);
  const versions = listOr(spec["versions"]).map(fieldsOr);
  const name = textOr(valueAt(object, ["metadata", "name"]));
  const wanted = `${textOr(valueAt(spec, ["names", "plural"]))}.${textOr(spec["group"])}`;
  const stored = versions.filter((version) => version["storage"] === true);
  return [
    ...(name === wanted ? [] : [invalidValue("metadata.name", name, 'must be spec.names.plural+"."+spec.group')]),
    ...(stored.length === 1
      ? []
      : [invalidValue("spec.versions", versions.length, "must have exactly one version marked as storage version")]),
    ...versions.flatMap((version, index) => checkVersion(version, `spec.versions[${index}].schema.openAPIV3Schema`)),
  ];
}

function checkVersion(version: Fields, path: string): readonly Cause[] {
  const schema = fieldsOr(version["schema"])["openAPIV3Schema"];
  if (!isFields(schema)) return [requiredValue(path, "schemas are required")];
  return schemaFaults(schema, path);
}
