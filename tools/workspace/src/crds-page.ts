import { type Kind, kinds } from "@evenkeel/api";
import { openApiSchema, type StructuralSchema } from "@evenkeel/crds";

/** Every field of every custom resource, from the schemas that the CRDs come from. */
export function crdsPage(): string {
  const intro =
    "# Custom resources\n\nFields of the originals keep their names and defaults. New fields are optional. " +
    "A field of a list's item has `[]` in its path. Lengths are counted in characters.\n";
  return intro + kinds.map(kindSection).join("");
}

function kindSection(kind: Kind): string {
  const { group, version, scope, plural, shortNames, description } = kind;
  const names = [plural, ...shortNames].map((name) => `\`${name}\``).join(", ");
  const { spec, status } = openApiSchema(kind).properties ?? {};
  const rows = [...fieldRows("spec", spec), ...fieldRows("status", status)];
  const rules = [...ruleRows("spec", spec), ...ruleRows("status", status)];
  return (
    `\n## ${kind.kind}\n\n${description} \`${group}/${version}\`, ${scope.toLowerCase()}; kubectl knows it as ${names}.\n\n` +
    `| field | type | default | what it is |\n|---|---|---|---|\n${rows.join("\n")}\n` +
    (rules.length === 0
      ? ""
      : `\nThe API server rejects an object that violates one of these rules:\n\n${rules.join("\n")}\n`)
  );
}

/**
 * What the API server checks by rules, which bounds in the table do not say; one line for all fields of which it says
 * the same.
 */
function ruleRows(path: string, schema: StructuralSchema | undefined): readonly string[] {
  const fields = new Map<string, string[]>();
  for (const [field, message] of rulesOf(path, schema)) fields.set(message, [...(fields.get(message) ?? []), field]);
  return [...fields].map(([message, blamed]) => `- ${blamed.map((field) => `\`${field}\``).join(", ")}: ${message}`);
}

function rulesOf(path: string, schema: StructuralSchema | undefined): readonly (readonly [string, string])[] {
  if (schema === undefined) return [];
  const own = (schema["x-kubernetes-validations"] ?? []).map(
    ({ message, fieldPath = "" }) => [path + fieldPath, message] as const,
  );
  const inner = Object.entries(schema.properties ?? {}).flatMap(([name, field]) => rulesOf(`${path}.${name}`, field));
  return [...own, ...inner, ...rulesOf(`${path}[]`, schema.items)];
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

function bounds(schema: StructuralSchema): string {
  const { enum: choices, items, minimum, maximum, minLength, maxLength, minItems, maxItems, format } = schema;
  const parts = [
    oneOf(choices ?? items?.enum),
    range(minimum, maximum, ""),
    range(minLength, maxLength, " long"),
    range(minItems, maxItems, " of them"),
    FORMS[format ?? ""] ?? "",
  ].filter((part) => part !== "");
  return parts.length === 0 ? "" : ` (${parts.join(", ")})`;
}

const FORMS: Readonly<Record<string, string>> = {
  duration: "a duration such as `15m`",
  "date-time": "a time in RFC 3339",
};

function oneOf(choices: StructuralSchema["enum"]): string {
  return choices ? `one of ${choices.map((choice) => `\`${String(choice)}\``).join(", ")}` : "";
}

function range(least: number | undefined, most: number | undefined, of: string): string {
  if (least !== undefined && most !== undefined) return `${least} to ${most}${of}`;
  if (least !== undefined) return `at least ${least}${of}`;
  return most === undefined ? "" : `at most ${most}${of}`;
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("\n", " ");
}
