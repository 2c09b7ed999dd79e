import { describe, expect, test } from "@jest/globals";
import { kinds } from "@evenkeel/api";
import { badManifests, goodManifests } from "@evenkeel/api/manifests";
import fc from "fast-check";
import { refusals } from "../test/checker.ts";
import { valueFor } from "../test/values.ts";
import { openApiSchema } from "./crd.ts";
import type { StructuralSchema } from "./structural-schema.ts";

describe.each(kinds.map((kind) => [kind.kind, kind] as const))("%s: the service and the API server", (_name, kind) => {
  const { properties = {} } = openApiSchema(kind);
  const parts: StructuralSchema = {
    type: "object",
    properties: { spec: properties["spec"] ?? {}, status: properties["status"] ?? {} },
  };
  const identity = { apiVersion: `${kind.group}/${kind.version}`, kind: kind.kind, metadata: { name: "a" } };
  const accepts = (value: object) => kind.schema.safeParse({ ...identity, ...value }).success;

  test("take and refuse the same objects", () => {
    const seen = { taken: 0, refused: 0 };
    const objects = valueFor({ ...parts, required: ["spec"] }).filter((value) =>
      Object.hasOwn(Object(value) as object, "spec"),
    );
    fc.assert(
      fc.property(objects, (value) => {
        const refused = refusals(parts, value);
        seen[refused.length === 0 ? "taken" : "refused"] += 1;
        expect({ accepted: accepts(value as object) }).toEqual({ accepted: refused.length === 0 });
      }),
      { numRuns: 400 },
    );
    expect(seen.taken).toBeGreaterThan(0);
    expect(seen.refused).toBeGreaterThan(0);
  });

  test("agree on every manifest of the table", () => {
    for (const manifest of goodManifests.filter((good) => good.kind === kind.kind))
      expect(refusals(parts, manifest)).toEqual([]);
    for (const { manifest, title } of badManifests.filter((bad) => bad.kind === kind.kind)) {
      expect({ title, refused: refusals(parts, manifest).length > 0 }).toEqual({ title, refused: true });
    }
  });

  test("know no field that the full manifest leaves out", () => {
    const full = goodManifests.find((manifest) => manifest.kind === kind.kind && manifest.metadata.name === "full");
    expect(fieldsMissing(parts, full, "")).toEqual([]);
  });
});

/** Paths of the schema's fields that `value` does not have; in a list one item that has the field is enough. */
function fieldsMissing(schema: StructuralSchema, value: unknown, path: string): readonly string[] {
  if (value === undefined) return [path];
  if (schema.items && Array.isArray(value)) {
    const missing = value.map((item) => fieldsMissing(schema.items ?? {}, item, `${path}[]`));
    return missing.reduce((common, more) => common.filter((field) => more.includes(field)));
  }
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) =>
    fieldsMissing(field, (value as Record<string, unknown>)[name], `${path}.${name}`),
  );
}
