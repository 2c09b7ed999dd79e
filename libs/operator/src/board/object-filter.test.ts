import { expect, test } from "@jest/globals";
import { objectFilter, objectNamed } from "./object-filter.ts";

const keys = ["shop/a", "shop/b", "shopping/a"];

test.each([
  ["all", "", "", keys],
  ["those of a namespace", "shop", "", ["shop/a", "shop/b"]],
  ["one", "shop", "a", ["shop/a"]],
  ["none", "bank", "", []],
])("selects %s", (_name, namespace, name, selected) => {
  expect(keys.filter(objectFilter("Get", { namespace, name }))).toEqual(selected);
});

test("refuses a name without its namespace", () => {
  expect(() => objectFilter("Get", { namespace: "", name: "a" })).toThrow(
    expect.objectContaining({ code: "EK_RPC_BAD_REQUEST" }),
  );
});

test.each([undefined, { namespace: "", name: "a" }, { namespace: "shop", name: "" }])(
  "refuses %j where one object must be named",
  (named) => {
    expect(() => objectNamed("Pause", "rebalance", named)).toThrow(
      expect.objectContaining({ code: "EK_RPC_BAD_REQUEST" }),
    );
  },
);

test("gives the object that a request names", () => {
  expect(objectNamed("Pause", "rebalance", { namespace: "shop", name: "a" })).toEqual({ namespace: "shop", name: "a" });
});

test("selects and takes objects of the cluster by their name alone", () => {
  const cluster = ["a", "b"];
  expect(cluster.filter(objectFilter("Get", { namespace: "", name: "" }, false))).toEqual(cluster);
  expect(cluster.filter(objectFilter("Get", { namespace: "", name: "a" }, false))).toEqual(["a"]);
  expect(objectNamed("Pause", "policy", { namespace: "", name: "a" }, false)).toEqual({ namespace: "", name: "a" });
  expect(() => objectNamed("Pause", "policy", { namespace: "shop", name: "" }, false)).toThrow(
    expect.objectContaining({ code: "EK_RPC_BAD_REQUEST" }),
  );
});
