import { type Kind, kinds } from "@evenkeel/api";
import { openApiSchema, type StructuralSchema } from "@evenkeel/crds";

/** Every field of every custom resource, from the schemas that the CRDs come from. */
export function crdsPage(): string {
  const intro =
    "# Custom resources\n\nField names, defaults and bounds are those that users of the original projects have.\n";
  return intro + kinds.map(kindSection).join("");
}

function kindSection(kind: Kind): string {
  const { group, version, scope, plural, shortNames, description } = kind;
  const names = [plural, ...shortNames].map((name) => `\`${name}\``).join(", ");
  const { spec, status } = openApiSchema(kind).properties ?? {};
  const rows = [...fieldRows("spec", spec), ...fieldRows("status", status)];
  return (
    `\n## ${kind.kind}\n\n${description} \`${group}/${version}\`, ${scope.toLowerCase()}; kubectl knows it as ${names}.\n\n` +
    `| field | type | default | what it is |\n|---|---|---|---|\n${rows.join("\n")}\n`
  );
}

function fieldRows(path: string, schema: StructuralSchema | undefined): readonly string[] {
  if (schema === undefined) return [];
  const { properties = {}, required = [], items } = schema;
  const rows = Object.entries(properties).flatMap(([name, field]) => {
    const inner = `${path}.${name}`;
    const fallback = required.includes(name)
      ? "required"
      : field.default === undefined
        ? ""
        : `\`${JSON.stringify(field.default)}\``;
    const row = `| \`${inner}\` | ${typeOf(field)} | ${fallback} | ${cell(field.description ?? "")}${bounds(field)} |`;
    return [row, ...fieldRows(inner, field)];
  });
  return [...rows, ...fieldRows(`${path}[]`, items)];
}

function typeOf({ type, items, additionalProperties }: StructuralSchema): string {
  if (type === "array") return `list of ${items ? typeOf(items) : "anything"}`;
  if (type === "object" && typeof additionalProperties === "object") return `map of ${typeOf(additionalProperties)}`;
  return (
    { string: "text", object: "object", integer: "integer", number: "number", boolean: "boolean" }[String(type)] ??
    "anything"
  );
}

function bounds({ enum: choices, minimum, maximum }: StructuralSchema): string {
  const range = [minimum === undefined ? "" : `at least ${minimum}`, maximum === undefined ? "" : `at most ${maximum}`];
  const said = [choices ? `one of ${choices.map((choice) => `\`${String(choice)}\``).join(", ")}` : "", ...range];
  const parts = said.filter((part) => part !== "");
  return parts.length === 0 ? "" : ` (${parts.join(", ")})`;
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("\n", " ");
}
