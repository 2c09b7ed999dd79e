import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import type { ManagedFields, StoredObject } from "../object.ts";
import { objectSchema } from "../types/metadata-schema.ts";
import { keyed, open, text, withDefault } from "../types/open-schema.ts";
import { applyConfig } from "./apply.ts";
import { fieldsIn, fromFieldsV1, showPath, toFieldsV1 } from "./field-path.ts";
import { managersAfterUpdate, type Writer } from "./managers.ts";

const ports = keyed(open({ protocol: withDefault(text, "TCP") }), ["port", "protocol"]);
const schema = objectSchema({
  properties: { spec: open({ ports, tags: { type: "array", "x-kubernetes-list-type": "set" } }) },
});
const writer = (manager: string, operation: Writer["operation"] = "Apply"): Writer => ({
  ...{ manager, operation, apiVersion: "v1", time: "2026-01-01T00:00:00Z" },
});
const stored = (fields: object, managedFields: readonly ManagedFields[] = []): StoredObject => ({
  ...{ apiVersion: "v1", kind: "Thing", ...fields },
  metadata: { name: "a", uid: "u", resourceVersion: "1", creationTimestamp: "2026-01-01T00:00:00Z", managedFields },
});

/** Applies configs in turn, each by its manager. */
function applyAll(...configs: readonly (readonly [manager: string, spec: object, force?: boolean])[]): StoredObject {
  let live: StoredObject | undefined;
  for (const [manager, spec, force = false] of configs) {
    const { object, managedFields } = applyConfig(live, { spec }, schema, writer(manager), force);
    live = stored(object, managedFields);
  }
  if (live === undefined) throw new Error("nothing was applied");
  return live;
}

describe("apply", () => {
  test("merges lists by all of their keys, defaults included", () => {
    const first = { ports: [{ port: 53, protocol: "UDP" }] };
    const second = { ports: [{ port: 53, name: "tcp" }] };
    expect(applyAll(["one", first], ["two", second])["spec"]).toEqual({
      ports: [
        { port: 53, protocol: "UDP" },
        { port: 53, name: "tcp" },
      ],
    });
  });

  test("removes an item that its only owner leaves out", () => {
    const both = { ports: [{ port: 1 }, { port: 2 }] };
    expect(applyAll(["one", both], ["one", { ports: [{ port: 2 }] }])["spec"]).toEqual({ ports: [{ port: 2 }] });
  });

  test("leaves an item to the other that owns it", () => {
    const item = { ports: [{ port: 1 }] };
    expect(applyAll(["one", item], ["two", item], ["one", { a: 1 }])["spec"]).toEqual({ ports: [{ port: 1 }], a: 1 });
  });

  test("replaces lists that have no keys as a whole, and conflicts over them", () => {
    expect(applyAll(["one", { list: [1] }], ["one", { list: [2, 3] }])["spec"]).toEqual({ list: [2, 3] });
    expect(() => applyAll(["one", { list: [1] }], ["two", { list: [2] }])).toThrow(
      'conflict with "one" using v1: .spec.list',
    );
  });

  test("takes a field over by force, so that its former owner has it no longer", () => {
    const live = applyAll(["one", { a: 1 }], ["two", { a: 2 }, true]);
    expect(live.metadata.managedFields?.map(({ manager }) => manager)).toEqual(["two"]);
  });

  test("of the same again changes nothing", () => {
    const spec = { a: { b: [1] }, tags: ["x"], ports: [{ port: 1, protocol: "TCP" }] };
    expect(applyAll(["one", spec], ["one", spec])).toEqual(applyAll(["one", spec]));
  });
});

describe("managers", () => {
  test("lose what an update changes or removes, and the updater gains what it changes", () => {
    const live = applyAll(["one", { a: 1, b: 2, c: 3 }]);
    const next = { ...live, spec: { a: 1, b: 5 } };
    expect(managersAfterUpdate(live, next, schema, writer("editor", "Update"))).toMatchObject([
      { manager: "one", operation: "Apply", fieldsV1: { "f:spec": { "f:a": {} } } },
      { manager: "editor", operation: "Update", fieldsV1: { "f:spec": { "f:b": {} } } },
    ]);
  });

  test("own neither identity nor what the server keeps", () => {
    const [entry] = managersAfterUpdate(undefined, stored({ spec: { a: 1 } }), schema, writer("one", "Update"));
    expect(entry?.fieldsV1).toEqual({ "f:spec": { "f:a": {} } });
  });
});

describe("field paths", () => {
  test("are shown as messages name them", () => {
    const value = { spec: { ports: [{ port: 1, protocol: "TCP", name: "x" }], tags: ["t"] } };
    expect([...fieldsIn(value, schema).keys()].map(showPath)).toEqual([
      '.spec.ports[port=1,protocol="TCP"]',
      '.spec.ports[port=1,protocol="TCP"].port',
      '.spec.ports[port=1,protocol="TCP"].protocol',
      '.spec.ports[port=1,protocol="TCP"].name',
      '.spec.tags[="t"]',
    ]);
  });

  test("survive the form that managedFields gives them", () => {
    const spec = fc.record({
      ports: fc.uniqueArray(fc.record({ port: fc.nat(100), name: fc.string() }), { selector: ({ port }) => port }),
      tags: fc.uniqueArray(fc.string()),
      other: fc.dictionary(fc.stringMatching(/^[a-z]+$/), fc.jsonValue()),
    });
    fc.assert(
      fc.property(spec, (value) => {
        const paths = new Set(fieldsIn({ spec: value }, schema).keys());
        expect(fromFieldsV1(toFieldsV1(paths))).toEqual(paths);
      }),
    );
  });
});
