import type { StructuralSchema } from "../src/index.ts";

const BOUNDS = [
  "format",
  "enum",
  "minimum",
  "maximum",
  "minLength",
  "maxLength",
  "pattern",
  "minItems",
  "maxItems",
  "minProperties",
  "maxProperties",
] as const satisfies readonly (keyof StructuralSchema)[];

/**
 * Paths of the original's fields of which `ours` asks something that the original does not, or that it lacks or types
 * otherwise. A rule across fields counts for the field that it blames, if the original has that field.
 */
export function stricterFields(original: StructuralSchema, ours: StructuralSchema, path: string): readonly string[] {
  const found = new Set<string>();
  const visit = (before: StructuralSchema, now: StructuralSchema = {}, at: string): void => {
    const bounded = BOUNDS.some((bound) => now[bound] !== undefined && now[bound] !== before[bound]);
    if (now.type !== before.type || bounded) found.add(at);
    for (const { fieldPath = "" } of now["x-kubernetes-validations"] ?? []) {
      // That one field is set was said by these bounds before there was CEL.
      const said = fieldPath === "" && before.minProperties === 1 && before.maxProperties === 1;
      if (!said && hasField(before, fieldPath)) found.add(at + fieldPath);
    }
    for (const name of now.required ?? []) {
      if (before.properties?.[name] && !before.required?.includes(name)) found.add(`${at}.${name}`);
    }
    for (const [name, field] of Object.entries(before.properties ?? {})) {
      visit(field, now.properties?.[name], `${at}.${name}`);
    }
    if (before.items) visit(before.items, now.items, `${at}[]`);
  };
  visit(original, ours, path);
  return [...found].sort();
}

function hasField(schema: StructuralSchema, fieldPath: string): boolean {
  const names = fieldPath.split(".").filter((name) => name !== "");
  return names.reduce<StructuralSchema | undefined>((at, name) => at?.properties?.[name], schema) !== undefined;
}
