import { expect, test } from "@jest/globals";
import { z } from "zod";
import { parseNodeClass } from "./node-class.ts";
import { parse } from "./parse.ts";
import { parseRebalancePolicy } from "./rebalance-policy.ts";
import { parseRebalance } from "./rebalance.ts";

test("a required field that is absent is said to be required", () => {
  const input = { apiVersion: "rebalancer.ch1aki.github.io/v1", kind: "Rebalance", metadata: { name: "a" } };
  expect(parseRebalance(input)).toEqual({ ok: false, errors: ["spec: Required: expected object"] });
});

test("a policy without a spec is a dry run with every default, not an all-zero policy that evicts", () => {
  const parsed = parseRebalancePolicy({
    apiVersion: "rebalancer.dev/v1",
    kind: "RebalancePolicy",
    metadata: { name: "a" },
  });
  expect(parsed).toMatchObject({ ok: true, value: { spec: { dryRun: true, maxEvictionsPerMinute: 3 } } });
});

test("an object of another kind is refused", () => {
  const input = { apiVersion: "rebalancer.dev/v1", kind: "RebalancePolicy", metadata: { name: "a" }, spec: {} };
  expect(parseNodeClass(input)).toEqual({ ok: false, errors: ['kind: Invalid input: expected "NodeClass"'] });
});

test("unknown fields of the spec are dropped and those of the metadata kept", () => {
  const parsed = parseNodeClass({
    apiVersion: "rebalancer.dev/v1",
    kind: "NodeClass",
    metadata: { name: "a", managedFields: [] },
    spec: { weight: 1, Weight: 2 },
  });
  expect(parsed).toMatchObject({ ok: true, value: { metadata: { managedFields: [] }, spec: { weight: 1 } } });
  expect(parsed.ok && Object.keys(parsed.value.spec)).toEqual(["weight"]);
});

test.each([[undefined], [null], ["text"], [[]]])("%j is no object", (input) => {
  expect(parseNodeClass(input)).toMatchObject({
    ok: false,
    errors: [expect.stringMatching(/^\(object\): .*expected object/)],
  });
});

test("keys that are no plain word are quoted, on one line and cut short", () => {
  const parsed = parse(z.object({ labels: z.record(z.string(), z.string()) }), {
    labels: { "kubernetes.io/arch": 1, "two\nlines": 2, ["x".repeat(500)]: 3 },
  });
  expect(parsed).toEqual({
    ok: false,
    errors: [
      'labels["kubernetes.io/arch"]: Invalid input: expected string, received number',
      'labels["two\\nlines"]: Invalid input: expected string, received number',
      `labels.${"x".repeat(100)}: Invalid input: expected string, received number`,
    ],
  });
});

test("many problems are listed in part and counted in full", () => {
  const parsed = parse(
    z.array(z.string()),
    Array.from({ length: 1000 }, (_, index) => index),
  );
  expect(parsed.ok ? [] : parsed.errors).toHaveLength(21);
  expect(parsed).toMatchObject({ errors: expect.arrayContaining(["and 980 more"]) as unknown });
});

test("a selector never loses a key", () => {
  const input = (labels: string): unknown =>
    JSON.parse(
      `{"apiVersion":"rebalancer.dev/v1","kind":"NodeClass","metadata":{"name":"a"},"spec":{"matchLabels":${labels}}}`,
    );
  expect(parseNodeClass(input('{"constructor":"a"}'))).toMatchObject({
    ok: true,
    value: { spec: { matchLabels: { constructor: "a" } } },
  });
  expect(parseNodeClass(input('{"__proto__":"a"}'))).toEqual({
    ok: false,
    errors: ["spec.matchLabels.__proto__: Invalid key: expected any but __proto__"],
  });
});
