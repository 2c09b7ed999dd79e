import { Readable } from "node:stream";
import { describe, expect, test } from "@jest/globals";
import { BadFile } from "../../errors.ts";
import { fieldFault } from "./field-faults.ts";
import { jsonObjects } from "./json-objects.ts";

function one(value: unknown): AsyncIterable<Buffer> {
  return Readable.from([Buffer.from(typeof value === "string" ? value : JSON.stringify(value))]);
}

async function objectsOf(value: unknown) {
  const found = [];
  for await (const { object, path } of jsonObjects("cluster.json", one(value))) found.push({ object, path });
  return found;
}

describe("objects of a file", () => {
  test("come from a List of mixed kinds", async () => {
    const items = [
      { kind: "Pod", apiVersion: "v1", metadata: { name: "a" } },
      { kind: "Node", apiVersion: "v1", metadata: { name: "b" } },
    ];
    expect(await objectsOf({ kind: "List", items })).toEqual([
      { object: items[0], path: "items[0]." },
      { object: items[1], path: "items[1]." },
    ]);
  });

  test("have the kind of their list where they have none, as from kubectl get --raw", async () => {
    const list = { kind: "PodMetricsList", apiVersion: "metrics.k8s.io/v1beta1", items: [{ metadata: { name: "a" } }] };
    expect(await objectsOf(list)).toEqual([
      { object: { kind: "PodMetrics", apiVersion: list.apiVersion, metadata: { name: "a" } }, path: "items[0]." },
    ]);
  });

  test("may be one object, and a list may be empty", async () => {
    const pod = { kind: "Pod", apiVersion: "v1", metadata: { name: "a" } };
    expect(await objectsOf(pod)).toEqual([{ object: pod, path: "" }]);
    expect(await objectsOf({ kind: "List", items: [] })).toEqual([]);
  });

  test.each([
    ["YAML", "apiVersion: v1\nkind: List\n", 0, "-o json"],
    ["no JSON in an item", '{"items":[{"a":}]}', 10, "JSON"],
    ["an item that is a list", '{"items":[[]]}', 10, "items[0]"],
    ["an item without kind", '{"kind":"List","items":[{}]}', 24, "items[0].kind"],
    ["an object without kind", "{}", 0, "kind"],
  ])("name file, byte and field of %s", async (_name, text, byte, words) => {
    const error = await objectsOf(text).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(BadFile);
    expect((error as Error).message).toContain(`cluster.json, byte ${byte}: `);
    expect((error as Error).message).toContain(words);
  });
});

test.each([
  ["a pod without containers", { kind: "Pod", metadata: { name: "a" }, spec: {} }, "spec.containers is missing"],
  ["a name that is a number", { kind: "Secret", metadata: { name: 5 } }, "metadata.name is not a text"],
  ["no metadata", { kind: "Node" }, "metadata is missing"],
  ["labels of numbers", { kind: "Node", metadata: { name: "a", labels: { b: 1 } } }, "metadata.labels is not a map"],
  ["taints of texts", { kind: "Node", metadata: { name: "a" }, spec: { taints: ["x"] } }, "spec.taints is not a list"],
  [
    "a list that is null",
    { kind: "Node", metadata: { name: "a" }, spec: { taints: null } },
    "spec.taints is not a list",
  ],
  ["usage without time", { kind: "NodeMetrics", metadata: { name: "a" } }, "timestamp is missing"],
])("the fault of %s names the field", (_name, object, fault) => {
  expect(fieldFault(object as never)).toContain(fault);
});

test("an object as kubectl writes it has no fault", () => {
  const metadata = { name: "a", namespace: "b", labels: { c: "d" } };
  expect(fieldFault({ kind: "Pod", metadata, spec: { containers: [{ name: "e" }] } } as never)).toBeUndefined();
});
