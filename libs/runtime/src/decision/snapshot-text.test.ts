import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { MASKED } from "../scrub.ts";
import { snapshotText } from "./snapshot-text.ts";

const at = "2026-01-01T00:00:00Z";
const parsed = (snapshot: unknown): unknown => JSON.parse(snapshotText(snapshot));

describe("a snapshot of plain data", () => {
  test("comes back as it was", () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: fc.constantFrom("a", '"', "\\", "\n", "é") }), (value) => {
        expect(parsed({ at, value })).toEqual(JSON.parse(JSON.stringify({ at, value })));
      }),
    );
  });

  test("may leave properties undefined, share objects, and have no prototype", () => {
    const shared = { cpu: "100m" };
    const bare = Object.assign(Object.create(null) as object, { a: 1 });
    expect(parsed({ at, gone: undefined, pods: [shared, shared], again: shared, bare })).toEqual({
      at,
      pods: [shared, shared],
      again: shared,
      bare: { a: 1 },
    });
  });

  test("may come from another realm, as JSON that fetch has read does", async () => {
    const body = await new Response('{"items":[{"name":"a"}]}').json();
    expect(parsed({ at, body, clone: structuredClone({ a: [1] }) })).toEqual({
      at,
      body: { items: [{ name: "a" }] },
      clone: { a: [1] },
    });
  });
});

describe("what JSON would change", () => {
  class Node {
    readonly name = "a";
  }
  test.each<[string, unknown, string, string]>([
    ["NaN", { load: NaN }, "NaN", "load"],
    ["Infinity", { a: { load: Infinity } }, "Infinity", "a.load"],
    ["-Infinity", { a: [{ load: -Infinity }] }, "-Infinity", "a.0.load"],
    ["a Map", { a: { b: new Map([["x", 1]]) } }, "a Map", "a.b"],
    ["a Set", { a: [1, new Set()] }, "a Set", "a.1"],
    ["a Date, although it has toJSON", { a: { at: new Date(0) } }, "a Date", "a.at"],
    ["a URL, although it has toJSON", { a: new URL("http://a") }, "a URL", "a"],
    ["a bigint", { token: 1n }, "a bigint", "token"],
    ["a function", { a: { decide: () => 1 } }, "a function", "a.decide"],
    ["a symbol", { a: [Symbol("s")] }, "a symbol", "a.0"],
    ["undefined in an array", { a: [1, undefined] }, "undefined", "a.1"],
    // eslint-disable-next-line no-sparse-arrays -- the hole is the case
    ["a hole in an array", { a: [1, , 3] }, "undefined", "a.1"],
    ["an instance of a class", { nodes: [{}, new Node()] }, "a Node", "nodes.1"],
    ["a Buffer", { body: Buffer.from("x") }, "a Buffer", "body"],
    ["an Error", { failed: new Error("x") }, "a Error", "failed"],
    ["an object that writes itself otherwise", { a: { toJSON: () => 1 } }, "a toJSON method", "a"],
    ["the root", new Map(), "a Map", "its root"],
    ["something after deeper places", { a: { b: { c: 1 } }, d: [{ e: 1 }], f: { g: NaN } }, "NaN", "f.g"],
    ["something after an object that stands in two places", { a: { x: 1 }, b: [NaN] }, "NaN", "b.0"],
  ])("is refused: %s", (_name, snapshot, what, path) => {
    expect(() => snapshotText(snapshot)).toThrow(
      expect.objectContaining({
        code: "EK_RUNTIME_SNAPSHOT_NOT_JSON",
        message: expect.stringContaining(`${what} at ${path}`) as unknown,
      }),
    );
  });

  test("is refused with its code even when it holds itself", () => {
    const loop: Record<string, unknown> = { a: 1 };
    loop["self"] = { deep: [loop] };
    expect(() => snapshotText({ at, loop })).toThrow(
      expect.objectContaining({
        code: "EK_RUNTIME_SNAPSHOT_NOT_JSON",
        message: expect.stringContaining("loop.self.deep.0") as unknown,
      }),
    );
  });
});

describe("a Secret in a snapshot", () => {
  const secret = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "redis", namespace: "shop" },
    type: "Opaque",
    data: { value: "aHVudGVyMg==" },
  };

  test.each<[string, unknown]>([
    ["at the top", secret],
    ["in a list", { items: [1, secret] }],
    ["deep down", { a: { b: [{ c: secret }] } }],
    ["with stringData", { a: { ...secret, data: undefined, stringData: { value: "aHVudGVyMg==" } } }],
    [
      "applied by kubectl, which keeps the whole of it in an annotation",
      {
        a: {
          ...secret,
          metadata: {
            name: "redis",
            annotations: { "kubectl.kubernetes.io/last-applied-configuration": JSON.stringify(secret) },
          },
        },
      },
    ],
    [
      "as an item of a list from the API, which leaves out its kind",
      { kind: "SecretList", items: [{ ...secret, kind: undefined }] },
    ],
  ])("keeps its name and loses its data %s", (_name, world) => {
    const text = snapshotText({ at, world });
    expect(text).not.toContain("aHVudGVyMg==");
    expect(text).toContain('"name":"redis"');
  });

  test("is named by others without losing anything", () => {
    const world = { ref: { kind: "Secret", name: "redis" }, list: { kind: "SecretList", items: [] } };
    expect(parsed({ at, world })).toEqual({ at, world });
  });

  test("does not make other kinds lose their data", () => {
    const world = { kind: "ConfigMap", metadata: { name: "a" }, data: { a: "b" } };
    expect(parsed({ at, world })).toEqual({ at, world });
  });

  test("whose data is foreign to JSON is no reason to refuse, since it goes", () => {
    expect(parsed({ at, a: { ...secret, data: { key: new Uint8Array([1]) } } })).toEqual({
      at,
      a: { kind: "Secret", metadata: secret.metadata },
    });
  });
});

test("credentials in a snapshot are masked", () => {
  const world = {
    headers: { Authorization: "Bearer abcdefgh" },
    log: "sent Basic dXNlcjpwYXNz",
    redis: "redis://:hunter2@redis:6379",
  };
  expect(parsed({ at, world })).toEqual({
    at,
    world: { headers: { Authorization: MASKED }, log: `sent Basic ${MASKED}`, redis: `redis://${MASKED}@redis:6379` },
  });
});
