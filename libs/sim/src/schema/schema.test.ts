import { describe, expect, test } from "@jest/globals";
import { withDefaults } from "./default.ts";
import { prune } from "./prune.ts";
import { Rules } from "./rules.ts";
import type { Rule, Schema } from "./schema.ts";
import { schemaFaults } from "./structural.ts";
import { validate } from "./validate.ts";

const object = (properties: Readonly<Record<string, Schema>>, more: Schema = {}): Schema => ({
  type: "object",
  properties,
  ...more,
});

describe("pruning", () => {
  const schema = object({
    list: { type: "array", items: object({ a: { type: "integer" } }) },
    map: { type: "object", additionalProperties: { type: "string" } },
  });

  test("drops what the schema does not know and says where it was", () => {
    const value = { list: [{ a: 1, b: 2 }], map: { any: "x" }, c: { d: 1 } };
    expect(prune(value, schema)).toEqual({
      value: { list: [{ a: 1 }], map: { any: "x" } },
      unknown: ["list[0].b", "c"],
    });
  });

  test("keeps what is unknown where the schema says so, and still drops below known fields", () => {
    const open = { ...schema, "x-kubernetes-preserve-unknown-fields": true } as const;
    expect(prune({ c: 1, list: [{ b: 2 }] }, open)).toEqual({ value: { c: 1, list: [{}] }, unknown: ["list[0].b"] });
  });
});

describe("defaults", () => {
  const schema = object({
    a: { type: "integer", default: 1 },
    o: object({ b: { type: "string", default: "x" } }),
    n: { type: "string", nullable: true },
  });

  test.each([
    ["are filled in", {}, { a: 1 }],
    ["are filled in within objects that are there", { o: {} }, { a: 1, o: { b: "x" } }],
    ["stand for null", { a: null, o: { b: null } }, { a: 1, o: { b: "x" } }],
    ["leave null where it may be", { n: null }, { a: 1, n: null }],
    ["leave what is given", { a: 0 }, { a: 0 }],
  ])("%s", (_, value, result) => {
    expect(withDefaults(value, schema)).toEqual(result);
  });
});

describe("validation", () => {
  test.each<[string, unknown, Schema, string]>([
    ["type", { a: "x" }, object({ a: { type: "integer" } }), "a FieldValueTypeInvalid"],
    ["whole number", { a: 1.5 }, object({ a: { type: "integer" } }), "a FieldValueTypeInvalid"],
    ["null", { a: null }, object({ a: { type: "string" } }), "a FieldValueTypeInvalid"],
    ["required", {}, object({}, { required: ["a"] }), "a FieldValueRequired"],
    ["enum", { a: "x" }, object({ a: { type: "string", enum: ["y"] } }), "a FieldValueNotSupported"],
    ["maximum", { a: 2 }, object({ a: { type: "integer", maximum: 1 } }), "a FieldValueInvalid"],
    [
      "exclusive minimum",
      { a: 1 },
      object({ a: { type: "integer", minimum: 1, exclusiveMinimum: true } }),
      "a FieldValueInvalid",
    ],
    ["pattern", { a: "X" }, object({ a: { type: "string", pattern: "^[a-z]$" } }), "a FieldValueInvalid"],
    ["length", { a: "xx" }, object({ a: { type: "string", maxLength: 1 } }), "a FieldValueTooLong"],
    ["date", { a: "yesterday" }, object({ a: { type: "string", format: "date-time" } }), "a FieldValueInvalid"],
    ["items", [1, 2], { type: "array", maxItems: 1 }, " FieldValueTooMany"],
    [
      "one of an item",
      { l: [{ a: 1 }, { a: "x" }] },
      object({ l: { type: "array", items: object({ a: { type: "integer" } }) } }),
      "l[1].a FieldValueTypeInvalid",
    ],
    ["set", ["a", "a"], { type: "array", "x-kubernetes-list-type": "set" }, "[1] FieldValueDuplicate"],
    [
      "keys",
      [{ n: 1 }, { n: 1 }],
      { type: "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["n"] },
      "[1] FieldValueDuplicate",
    ],
    ["oneOf", 1, { oneOf: [{ type: "integer" }, { minimum: 0 }] }, " FieldValueInvalid"],
    ["not", 1, { not: { type: "integer" } }, " FieldValueInvalid"],
    ["number or text", true, { "x-kubernetes-int-or-string": true }, " FieldValueTypeInvalid"],
  ])("by %s names the field", (_, value, schema, expected) => {
    expect(validate(value, schema).map(({ field, reason }) => `${field} ${reason}`)).toEqual([expected]);
  });

  test("finds nothing wrong with what fits", () => {
    const schema = object({ a: { type: "number", minimum: 0 }, s: { type: "string", maxLength: 1 } });
    expect(validate({ a: 1, s: "𝄞", other: true }, schema)).toEqual([]);
  });
});

describe("rules", () => {
  const rules = (rule: string, message?: string): readonly Rule[] => [
    { rule, ...(message === undefined ? {} : { message }) },
  ];
  const check = (value: unknown, old: unknown, schema: Schema): string[] =>
    new Rules().check(value, old, schema).map(({ field, message }) => `${field ?? ""}: ${message}`);

  test("tell whole numbers from others", () => {
    const schema = object(
      { i: { type: "integer" }, d: { type: "number" } },
      { "x-kubernetes-validations": rules("self.i > 1 && self.d > 1.0") },
    );
    expect(check({ i: 2, d: 2 }, undefined, schema)).toEqual([]);
    expect(check({ i: 1, d: 2 }, undefined, schema)).toHaveLength(1);
  });

  test("on changes compare items by their keys", () => {
    const item = object({
      name: { type: "string" },
      v: { type: "integer", "x-kubernetes-validations": rules("self >= oldSelf", "never less") },
    });
    const schema: Schema = {
      type: "array",
      items: item,
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["name"],
    };
    const old = [
      { name: "a", v: 5 },
      { name: "b", v: 1 },
    ];
    expect(
      check(
        [
          { name: "b", v: 0 },
          { name: "a", v: 5 },
        ],
        old,
        schema,
      ),
    ).toEqual([expect.stringContaining("[0].v: Invalid value: 0: never less")]);
  });

  test.each([
    ["has(self.a) || has(self.b)", { a: "x" }, 0],
    ["[has(self.a), has(self.b)].exists_one(set, set)", { a: "x", b: "y" }, 1],
    ["self.?a.orValue('none') == 'none'", {}, 0],
    ["self.list.all(x, x.matches('^[a-z]+$')) && self.list.size() < 3", { list: ["a", "b"] }, 0],
  ])("can say %s", (rule, value, broken) => {
    const text: Schema = { type: "string" };
    const schema = object(
      { a: text, b: text, list: { type: "array", items: text } },
      { "x-kubernetes-validations": rules(rule) },
    );
    expect(schemaFaults(schema, "schema")).toEqual([]);
    expect(check(value, undefined, schema)).toHaveLength(broken);
  });
});

describe("a schema", () => {
  test.each<[string, Schema, string]>([
    ["a field without a type", object({ a: {} }), "s.properties[a].type"],
    ["items without a type", object({ a: { type: "array", items: {} } }), "s.properties[a].items.type"],
    ["a list without items", object({ a: { type: "array" } }), "s.properties[a].items"],
    [
      "a map without keys",
      object({ a: { type: "array", items: object({}), "x-kubernetes-list-type": "map" } }),
      "s.properties[a].x-kubernetes-list-map-keys",
    ],
    [
      "a rule on a field that is none",
      object({}, { "x-kubernetes-validations": [{ rule: "self.a" }] }),
      "s.x-kubernetes-validations[0].rule",
    ],
    [
      "a rule that cannot be read",
      object({}, { "x-kubernetes-validations": [{ rule: "self ==" }] }),
      "s.x-kubernetes-validations[0].rule",
    ],
    [
      "a rule that gives no answer",
      object({}, { "x-kubernetes-validations": [{ rule: "1 + 1" }] }),
      "s.x-kubernetes-validations[0].rule",
    ],
  ])("with %s is refused", (_, schema, field) => {
    expect(schemaFaults(schema, "s").map((cause) => cause.field)).toEqual([field]);
  });
});
