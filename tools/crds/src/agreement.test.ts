import { describe, expect, test } from "@jest/globals";
import { kinds, REBALANCE, UNKNOWN_TIME_ZONE } from "@evenkeel/api";
import { badManifests, goodManifests, OUTGROWN } from "@evenkeel/api/manifests";
import fc from "fast-check";
import { refusals } from "../test/checker.ts";
import { ORIGINAL_REBALANCE_SPEC } from "../test/original-rebalance.ts";
import { stricterFields } from "../test/stricter.ts";
import { valueFor } from "../test/values.ts";
import { openApiSchema } from "./crd.ts";
import type { StructuralSchema } from "./structural-schema.ts";

/** What the service refuses and the API server cannot. */
const SAID_BY_THE_SERVICE = [UNKNOWN_TIME_ZONE];

describe.each(kinds.map((kind) => [kind.kind, kind] as const))("%s: the service and the API server", (_name, kind) => {
  const { properties = {} } = openApiSchema(kind);
  const parts: StructuralSchema = {
    type: "object",
    properties: { spec: properties["spec"] ?? {}, status: properties["status"] ?? {} },
  };
  const identity = { apiVersion: `${kind.group}/${kind.version}`, kind: kind.kind, metadata: { name: "a" } };
  const rules = ruleMessages(parts);

  /** What the service says of an object: by the schema's own bounds, and by rules that the API server has as CEL. */
  const judged = (value: object) => {
    const messages = kind.schema.safeParse({ ...identity, ...value }).error?.issues.map(({ message }) => message) ?? [];
    const others = messages.filter((message) => !SAID_BY_THE_SERVICE.includes(message));
    return { byBounds: others.filter((message) => !rules.has(message)), byRules: others.filter((m) => rules.has(m)) };
  };

  test("take and refuse the same objects, rules aside", () => {
    const seen = { taken: 0, refused: 0 };
    const objects = valueFor({ ...parts, required: ["spec"] }).filter((value) =>
      Object.hasOwn(Object(value) as object, "spec"),
    );
    fc.assert(
      fc.property(objects, (value) => {
        const refused = refusals(parts, value).length > 0;
        seen[refused ? "refused" : "taken"] += 1;
        expect({ refused: judged(value as object).byBounds.length > 0 }).toEqual({ refused });
      }),
      { numRuns: 400 },
    );
    expect(seen.taken).toBeGreaterThan(0);
    expect(seen.refused).toBeGreaterThan(0);
  });

  test("agree on every manifest of the table", () => {
    for (const manifest of goodManifests.filter((good) => good.kind === kind.kind)) {
      expect({ checker: refusals(parts, manifest), service: judged(manifest) }).toEqual({
        checker: [],
        service: { byBounds: [], byRules: [] },
      });
    }
    for (const { manifest, title } of badManifests.filter((bad) => bad.kind === kind.kind)) {
      const refused = refusals(parts, manifest).length > 0;
      expect({ title, refused: refused || judged(manifest).byRules.length > 0 }).toEqual({ title, refused: true });
    }
  });

  test("know no field that all good manifests leave out", () => {
    const used = new Set(
      goodManifests.filter((manifest) => manifest.kind === kind.kind).flatMap((good) => usedFields(parts, good, "")),
    );
    expect(fieldsOf(parts, "").filter((field) => !used.has(field))).toEqual([]);
  });
});

test("Rebalance asks more than the original's CRD only where it says why", () => {
  const spec = openApiSchema(REBALANCE).properties?.["spec"] ?? {};
  const justified = OUTGROWN.map(({ path }) => path.replaceAll(/\[\d+\]/g, "[]"));
  // Required there; here either of them or a list is, which asks less.
  const looser = ["spec.metrics", "spec.target"];
  expect(stricterFields(ORIGINAL_REBALANCE_SPEC, spec, "spec")).toEqual([...justified, ...looser].sort());
});

/** What every rule in the schema says. */
function ruleMessages(schema: StructuralSchema): ReadonlySet<string> {
  const own = schema["x-kubernetes-validations"] ?? [];
  const inner = [...Object.values(schema.properties ?? {}), ...(schema.items ? [schema.items] : [])];
  return new Set([...own.map(({ message }) => message), ...inner.flatMap((field) => [...ruleMessages(field)])]);
}

/** Paths of all the schema's fields, however deep. */
function fieldsOf(schema: StructuralSchema, path: string): readonly string[] {
  const own = Object.entries(schema.properties ?? {});
  return [
    ...own.flatMap(([name, field]) => [`${path}.${name}`, ...fieldsOf(field, `${path}.${name}`)]),
    ...(schema.items ? fieldsOf(schema.items, `${path}[]`) : []),
  ];
}

/** Those of them that `value` has. */
function usedFields(schema: StructuralSchema, value: unknown, path: string): readonly string[] {
  const { items, properties = {} } = schema;
  if (items && Array.isArray(value)) return value.flatMap((item) => usedFields(items, item, `${path}[]`));
  return Object.entries(properties).flatMap(([name, field]) => {
    const inner = (value as Record<string, unknown>)[name];
    return inner === undefined ? [] : [`${path}.${name}`, ...usedFields(field, inner, `${path}.${name}`)];
  });
}
