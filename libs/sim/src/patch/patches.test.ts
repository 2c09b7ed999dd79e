import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import type { Schema } from "../schema/schema.ts";
import { keyed, open, texts } from "../types/open-schema.ts";
import { jsonPatch } from "./json-patch.ts";
import { mergePatch } from "./merge-patch.ts";
import { strategicPatch } from "./strategic-patch.ts";

describe("a merge patch", () => {
  // The table of RFC 7386, appendix A.
  test.each([
    [{ a: "b" }, { a: "c" }, { a: "c" }],
    [{ a: "b" }, { b: "c" }, { a: "b", b: "c" }],
    [{ a: "b" }, { a: null }, {}],
    [{ a: "b", b: "c" }, { a: null }, { b: "c" }],
    [{ a: ["b"] }, { a: "c" }, { a: "c" }],
    [{ a: { b: "c" } }, { a: { b: "d", c: null } }, { a: { b: "d" } }],
    [{ a: [{ b: "c" }] }, { a: [1] }, { a: [1] }],
    [
      ["a", "b"],
      ["c", "d"],
      ["c", "d"],
    ],
    [{ a: "foo" }, "bar", "bar"],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  ])("of %j with %j gives %j", (value, patch, result) => {
    expect(mergePatch(value, patch)).toEqual(result);
  });
});

describe("a JSON patch", () => {
  test.each([
    ["adds to the end of a list", { a: [1] }, [{ op: "add", path: "/a/-", value: 2 }], { a: [1, 2] }],
    ["inserts into a list", { a: [1, 3] }, [{ op: "add", path: "/a/1", value: 2 }], { a: [1, 2, 3] }],
    ["replaces an item", { a: [1, 3] }, [{ op: "replace", path: "/a/1", value: 2 }], { a: [1, 2] }],
    ["removes an item", { a: [1, 2] }, [{ op: "remove", path: "/a/0" }], { a: [2] }],
    ["moves", { a: { b: 1 } }, [{ op: "move", from: "/a/b", path: "/c" }], { a: {}, c: 1 }],
    ["reads escapes", { "a/b": { "c~d": 1 } }, [{ op: "remove", path: "/a~1b/c~0d" }], { "a/b": {} }],
    ["tests for nothing", {}, [{ op: "test", path: "/a", value: null }], {}],
  ])("%s", (_, value, patch, result) => {
    expect(jsonPatch(value, patch)).toEqual(result);
  });

  test.each([
    ["a test that fails", [{ op: "test", path: "/a", value: 2 }], 422],
    ["the removal of nothing", [{ op: "remove", path: "/z" }], 422],
    ["the replacement of nothing", [{ op: "replace", path: "/z", value: 1 }], 422],
    ["a place that is none", [{ op: "add", path: "/z/y", value: 1 }], 422],
    ["an index beyond the end", [{ op: "add", path: "/l/2", value: 1 }], 422],
    ["an operation that is none", [{ op: "invent", path: "/a" }], 400],
    ["what is no list", { op: "add", path: "/a" }, 400],
  ])("of %s is refused", (_, patch, code) => {
    expect(() => jsonPatch({ a: 1, l: [0] }, patch)).toThrow(expect.objectContaining({ code }));
  });

  test("does not touch the value that it is applied to", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ minLength: 1 }), fc.jsonValue()), (value) => {
        const before = structuredClone(value);
        jsonPatch(value, [{ op: "add", path: "/new", value: 1 }]);
        mergePatch(value, { new: 1 });
        expect(value).toEqual(before);
      }),
    );
  });
});

describe("a strategic merge patch", () => {
  const item = open({ ports: keyed(open(), ["port"]) });
  const finalizers: Schema = { ...texts, "x-kubernetes-patch-strategy": "merge" };
  const schema = open({ items: keyed(item, ["name"]), finalizers, plain: texts });
  const named = (...names: string[]): object[] => names.map((name) => ({ name }));

  test.each([
    [
      "changes an item by its key",
      { items: named("a", "b") },
      { items: [{ name: "b", x: 1 }] },
      { items: [{ name: "a" }, { name: "b", x: 1 }] },
    ],
    ["puts new items first", { items: named("a", "b") }, { items: named("c") }, { items: named("c", "a", "b") }],
    [
      "takes items away",
      { items: named("a", "b") },
      { items: [{ name: "a", $patch: "delete" }] },
      { items: named("b") },
    ],
    [
      "replaces a list",
      { items: named("a", "b") },
      { items: [...named("c"), { $patch: "replace" }] },
      { items: named("c") },
    ],
    ["replaces an object", { o: { a: 1, b: 2 } }, { o: { $patch: "replace", c: 3 } }, { o: { c: 3 } }],
    ["joins lists of values", { finalizers: ["a"] }, { finalizers: ["b", "a"] }, { finalizers: ["a", "b"] }],
    [
      "takes values away",
      { finalizers: ["a", "b"] },
      { "$deleteFromPrimitiveList/finalizers": ["a"] },
      { finalizers: ["b"] },
    ],
    ["replaces lists that do not merge", { plain: ["a"] }, { plain: ["b"] }, { plain: ["b"] }],
    ["removes what is null", { o: 1, p: 2 }, { o: null }, { p: 2 }],
    [
      "keeps only the keys it is told",
      { o: { a: 1, b: 2 } },
      { o: { $retainKeys: ["b", "c"], c: 3 } },
      { o: { b: 2, c: 3 } },
    ],
    [
      "sets the order",
      { items: named("a", "b") },
      { "$setElementOrder/items": named("b", "a"), items: [] },
      { items: named("b", "a") },
    ],
    [
      "merges lists within items",
      { items: [{ name: "a", ports: [{ port: 1 }] }] },
      { items: [{ name: "a", ports: [{ port: 1, name: "x" }] }] },
      { items: [{ name: "a", ports: [{ port: 1, name: "x" }] }] },
    ],
  ])("%s", (_, value, patch, result) => {
    expect(strategicPatch(value, patch, schema)).toEqual(result);
  });

  test("without the key of an item is refused", () => {
    expect(() => strategicPatch({}, { items: [{ x: 1 }] }, schema)).toThrow("merge key");
  });
});
