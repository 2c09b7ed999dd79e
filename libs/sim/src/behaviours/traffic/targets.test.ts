import { expect, test } from "@jest/globals";
import type { Fields } from "../../json.ts";
import type { StoredObject } from "../../object.ts";
import { targets } from "./targets.ts";

const slice = (endpoints: readonly Fields[], port = 8080): StoredObject =>
  ({ ports: [{ name: "http", port }], endpoints }) as unknown as StoredObject;
const endpoint = (address: string, conditions?: Fields): Fields => ({ addresses: [address], conditions });
const ready = { ready: true, serving: true, terminating: false };
const last = { ready: false, serving: true, terminating: true };
const broken = { ready: false, serving: false, terminating: false };
const addresses = (...slices: readonly StoredObject[]): string[] =>
  targets(slices, "http").map(({ address, port }) => `${address}:${port}`);

test.each([
  ["the ready ones alone", [endpoint("a", ready), endpoint("b", last), endpoint("c", broken)], ["a:8080"]],
  ["those that still serve while none is ready", [endpoint("b", last), endpoint("c", broken)], ["b:8080"]],
  ["one that says nothing", [endpoint("a")], ["a:8080"]],
  ["none that is broken", [endpoint("c", broken)], []],
])("targets are %s", (_name, endpoints, expected) => {
  expect(addresses(slice(endpoints))).toEqual(expected);
});

test("targets have the port of their own slice, and only of the name that is asked for", () => {
  expect(addresses(slice([endpoint("a")], 1), slice([endpoint("b")], 2))).toEqual(["a:1", "b:2"]);
  expect(targets([slice([endpoint("a")])], "grpc")).toEqual([]);
});
