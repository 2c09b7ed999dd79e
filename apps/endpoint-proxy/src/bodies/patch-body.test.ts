import { describe, expect, test } from "@jest/globals";
import { parseJson } from "./json-text.ts";
import { parsePatch, type PatchTarget } from "./patch-body.ts";

const JSON_PATCH = "application/json-patch+json";
const MERGE = "application/merge-patch+json";
const APPLY = "application/apply-patch+yaml";

const merged = parseJson(
  '{"metadata":{"uid":"u-a","labels":{"app":"web"}},"spec":{"replicas":10,"template":{"metadata":{"labels":{"l":"x"}}}}}',
);
const target: PatchTarget = {
  current: parseJson(
    '{"metadata":{"uid":"u-b","labels":{"app":"web"}},"spec":{"replicas":3,"template":{"metadata":{"labels":{"l":"b"}}}}}',
  ),
  ...{
    isOwn: false,
    replicas: undefined,
    annotations: {},
    label: { key: "l", value: "b" },
    version: undefined,
  },
};
const after = (type: string, patch: unknown) =>
  parsePatch(type, Buffer.from(JSON.stringify(patch))).replicasAfter(merged);
const made = (type: string, patch: unknown, change: Partial<PatchTarget> = {}) =>
  JSON.parse(
    parsePatch(type, Buffer.from(JSON.stringify(patch)))
      .for({ ...target, ...change })
      .body.toString(),
  ) as unknown;

describe("replicas after a patch", () => {
  test.each([
    ["merge: set", MERGE, { spec: { replicas: 4 } }, 4],
    ["merge: removed, so the default", MERGE, { spec: { replicas: null } }, 1],
    ["merge: not named", MERGE, { spec: { paused: true } }, undefined],
    ["strategic: spec replaced", "application/strategic-merge-patch+json", { spec: { $patch: "replace" } }, 1],
    ["strategic: all replaced", "application/strategic-merge-patch+json", { $patch: "replace", spec: {} }, 1],
    ["apply: 0", APPLY, { spec: { replicas: 0 } }, 0],
    ["json: replace", JSON_PATCH, [{ op: "replace", path: "/spec/replicas", value: 5 }], 5],
    ["json: remove, so the default", JSON_PATCH, [{ op: "remove", path: "/spec/replicas" }], 1],
    ["json: above", JSON_PATCH, [{ op: "replace", path: "/spec", value: { replicas: 6 } }], 6],
    ["json: above, without", JSON_PATCH, [{ op: "replace", path: "/spec", value: {} }], 1],
    [
      "json: copied from elsewhere",
      JSON_PATCH,
      [
        { op: "add", path: "/spec/x", value: 8 },
        { op: "copy", from: "/spec/x", path: "/spec/replicas" },
      ],
      8,
    ],
    ["json: a test alone", JSON_PATCH, [{ op: "test", path: "/spec/replicas", value: 10 }], undefined],
  ])("%s", (_name, type, patch, expected) => expect(after(type, patch)).toBe(expected));

  test("a test that fails on the merged object is a mismatch", () => {
    expect(() => after(JSON_PATCH, [{ op: "test", path: "/spec/replicas", value: 3 }])).toThrow(/replicas/);
    expect(() => after(JSON_PATCH, [{ op: "replace", path: "/spec/none/deep", value: 3 }])).toThrow(/none/);
  });
});

describe("the patch of a member", () => {
  test("tests what the member itself has, and ends with the member's part", () => {
    const patch = [
      { op: "test", path: "/spec/replicas", value: 10 },
      { op: "test", path: "/metadata/uid", value: "u-a" },
      { op: "replace", path: "/spec/replicas", value: 20 },
    ];
    expect(
      made(JSON_PATCH, patch, {
        replicas: 7,
        version: "41",
        annotations: { total: "20" },
      }),
    ).toEqual([
      { op: "test", path: "/spec/replicas", value: 3 },
      { op: "test", path: "/metadata/uid", value: "u-b" },
      { op: "add", path: "/spec/replicas", value: 20 },
      { op: "add", path: "/spec/replicas", value: 7 },
      { op: "add", path: "/metadata/annotations", value: { total: "20" } },
      { op: "add", path: "/metadata/resourceVersion", value: "41" },
    ]);
  });
  test("sets the member's label only where the patch touches labels", () => {
    const template = [
      {
        op: "replace",
        path: "/spec/template",
        value: { metadata: { labels: { l: "local" } } },
      },
    ];
    expect(made(JSON_PATCH, template)).toEqual([
      ...template,
      { op: "add", path: "/spec/template/metadata/labels/l", value: "b" },
    ]);
    expect(made(MERGE, { metadata: { labels: { l: "local", m: "1" } } })).toEqual({
      metadata: { labels: { l: "b", m: "1" } },
    });
    expect(made(MERGE, { metadata: { labels: { m: "1" } } })).toEqual({
      metadata: { labels: { m: "1" } },
    });
  });
  test("keeps the text of numbers and unknown fields", () => {
    const sent = '{"spec":{"replicas":20,"exact":1.0,"big":12345678901234567890}}';
    const { body } = parsePatch(MERGE, Buffer.from(sent)).for({
      ...target,
      replicas: 7,
    });
    expect(body.toString()).toBe(sent.replace("20", "7"));
  });
  test("has the member's uid and version, and no owners in a peer", () => {
    const patch = {
      metadata: {
        uid: "u-a",
        resourceVersion: "1000",
        ownerReferences: [{ uid: "z" }],
      },
    };
    expect(made(MERGE, patch, { version: "5" })).toEqual({
      metadata: { uid: "u-b", resourceVersion: "5" },
    });
    expect(made(MERGE, patch, { isOwn: true })).toEqual({
      metadata: { uid: "u-b", ownerReferences: [{ uid: "z" }] },
    });
  });
  test("of apply has the label on object and template", () => {
    expect(made(APPLY, { spec: { template: { spec: {} } } })).toEqual({
      metadata: { labels: { l: "b" } },
      spec: { template: { spec: {}, metadata: { labels: { l: "b" } } } },
    });
  });
});

test.each([
  [JSON_PATCH, "{}", /list of operations/],
  [JSON_PATCH, '[{"op":"grow","path":"/a"}]', /operation 0/],
  [MERGE, "[]", /object/],
  [MERGE, '{"a":\n}', /line 2/],
  ["application/json", "{}", /application\/json/],
])("%s %s is refused", (type, body, why) => expect(() => parsePatch(type, Buffer.from(body))).toThrow(why));

describe("the object after a patch", () => {
  const object = parseJson('{"metadata":{"annotations":{"a":"1","b":"2"}}}');
  const left = (type: string, patch: unknown) =>
    JSON.stringify(parsePatch(type, Buffer.from(JSON.stringify(patch))).after(object));
  test.each([
    [MERGE, { metadata: { annotations: { a: null, c: "3" } } }, '{"metadata":{"annotations":{"b":"2","c":"3"}}}'],
    [MERGE, { metadata: null }, "{}"],
    [
      "application/strategic-merge-patch+json",
      { metadata: { annotations: { $patch: "replace", c: "3" } } },
      '{"metadata":{"annotations":{"c":"3"}}}',
    ],
    [JSON_PATCH, [{ op: "remove", path: "/metadata/annotations/a" }], '{"metadata":{"annotations":{"b":"2"}}}'],
  ])("%s %j", (type, patch, expected) => expect(left(type, patch)).toBe(expected));
});

describe("a patch that one server reads otherwise than it looks", () => {
  // kube-apiserver drops all that stands before the first slash: `x/spec/replicas` is /spec/replicas to it.
  test.each([
    [{ op: "replace", path: "x/spec/replicas", value: 1000 }],
    [{ op: "copy", from: "x/spec/replicas", path: "/spec/y" }],
  ])("%j is refused: its path does not begin with a slash", (operation) => {
    expect(() => parsePatch(JSON_PATCH, Buffer.from(JSON.stringify([operation])))).toThrow(SyntaxError);
  });

  test("owner references do not reach a peer in the value of what is above them", () => {
    const metadata = { name: "web", ownerReferences: [{ uid: "u-a" }] };
    expect(made(JSON_PATCH, [{ op: "replace", path: "/metadata", value: metadata }])).toEqual([
      { op: "replace", path: "/metadata", value: { name: "web" } },
    ]);
    expect(made(JSON_PATCH, [{ op: "add", path: "", value: { metadata } }])).toEqual([
      { op: "add", path: "", value: { metadata: { name: "web" } } },
    ]);
  });

  test("annotations that are removed as a whole are removed, although one is set", () => {
    const current = parseJson('{"metadata":{"annotations":{"old":"1"}},"spec":{"replicas":3}}');
    const patch = { metadata: { annotations: null }, spec: { replicas: 4 } };
    expect(made(MERGE, patch, { current, replicas: 2, annotations: { total: "4" } })).toEqual({
      metadata: { annotations: { old: null, total: "4" } },
      spec: { replicas: 2 },
    });
  });
});
