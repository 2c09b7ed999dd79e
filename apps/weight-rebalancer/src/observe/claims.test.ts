import { expect, test } from "@jest/globals";
import { parseRebalance, type Rebalance } from "@evenkeel/api";
import { Route53Denied, Route53Unreachable } from "../errors.ts";
import { outsideOf } from "../outside.ts";
import type { StoredRebalance } from "../rebalance-resource.ts";
import type { Route53Spec } from "../targets/route53/aws-identity.ts";
import type { WeightTarget } from "../targets/weight-target.ts";
import { Claims, claimedTargets } from "./claims.ts";

const notCalled = () => {
  throw new Error("a claim makes no call");
};
const targetAt = (endpoint?: string): WeightTarget => ({
  ...{ name: "route53 Z1/www A blue", endpoint, range: { minimum: 0, maximum: 255 } },
  ...{ read: notCalled, write: notCalled },
});
const outside = outsideOf({
  prometheus: { source: notCalled },
  route53: { target: (_namespace, { endpoint }: Route53Spec) => targetAt(endpoint) },
  httpRoutes: { get: notCalled, patch: notCalled },
});

const rebalance = (name: string, created: string, uid: string, change: object = {}, namespace = "shop"): Rebalance => {
  const parsed = parseRebalance({
    apiVersion: "rebalancer.ch1aki.github.io/v1",
    kind: "Rebalance",
    metadata: { namespace, name, uid, creationTimestamp: created },
    spec: {
      policy: { targettracking: { targetValue: 1000, baseValue: 8 } },
      target: { httpRoute: { name: "shop", rule: 0, backend: "burst" } },
      metrics: { prometheus: { address: "http://prometheus:9090", query: "sum(requests)" } },
      ...change,
    },
  });
  if (!parsed.ok) throw new Error(parsed.errors.join());
  return parsed.value;
};

const claimsOf = (...objects: readonly Rebalance[]) => {
  const names = claimedTargets(outside);
  const stored = objects as unknown as readonly StoredRebalance[];
  const store = {
    by: (_index: "target", target: string) => stored.filter((each) => names(each).includes(target)).values(),
  };
  return new Claims(store, outside);
};

/** Who of these may not write, with the holder of the target. */
const refused = (...objects: readonly Rebalance[]) => {
  const claims = claimsOf(...objects);
  return objects.flatMap((each) => {
    const claim = claims.taken(each);
    return claim === null ? [] : [[each.metadata.name, claim.holder, claim.target]];
  });
};

const TARGET = "httproute shop/shop rule 0 burst";

test("of two that name one backend of an HTTPRoute, the older one writes it", () => {
  const [old, young] = [rebalance("old", "2026-01-01T00:00:00Z", "b"), rebalance("young", "2026-01-02T00:00:00Z", "a")];
  expect(refused(young, old)).toEqual([["young", "shop/old", TARGET]]);
});

test("of two of the same second, the one with the lower uid writes", () => {
  const at = "2026-01-01T00:00:00Z";
  expect(refused(rebalance("b", at, "2"), rebalance("a", at, "1"))).toEqual([["b", "shop/a", TARGET]]);
});

test.each([
  ["is a dry run", { dryRun: true }],
  ["is suspended", { suspend: true }],
  ["names another backend", { target: { httpRoute: { name: "shop", rule: 0, backend: "other" } } }],
])("an older one that %s claims nothing", (_what, change) => {
  const old = rebalance("old", "2026-01-01T00:00:00Z", "a", change);
  const holders = refused(old, rebalance("young", "2026-01-02T00:00:00Z", "b")).map(([, holder]) => holder);
  expect(holders).not.toContain("shop/old");
});

const RECORD = { hostedZoneID: "Z1", resource: { name: "www", type: "A", identifier: "blue" } };
const ROUTE53 = { target: { route53: RECORD } };

test("a target at another endpoint is another target", () => {
  const at = (endpoint: string) => ({ target: { route53: { ...RECORD, endpoint } } });
  const old = rebalance("old", "2026-01-01T00:00:00Z", "a", at("http://192.0.2.1"));
  const young = rebalance("young", "2026-01-02T00:00:00Z", "b", ROUTE53);
  expect(refused(old, young)).toEqual([]);
  expect(refused(old, rebalance("young", "2026-01-02T00:00:00Z", "b", at("http://192.0.2.1")))).toHaveLength(1);
});

test.each([
  ["of another namespace that may not read the target claims nothing", "other", [denied()], null],
  ["of another namespace that never could read it claims nothing", "other", [unreachable()], null],
  [
    "of another namespace that could read it keeps its claim while it is away",
    "other",
    [undefined, unreachable()],
    "other/old",
  ],
  ["of another namespace loses its claim when it may no longer read it", "other", [undefined, denied()], null],
  ["of another namespace claims it until it was reconciled", "other", [], "other/old"],
  ["of the same namespace claims it in any case", "shop", [denied()], "shop/old"],
])("an older one %s", (_what, namespace, errors, holder) => {
  const old = rebalance("old", "2026-01-01T00:00:00Z", "a", ROUTE53, namespace);
  const young = rebalance("young", "2026-01-02T00:00:00Z", "b", ROUTE53);
  const claims = claimsOf(old, young);
  for (const error of errors) claims.learn("a", [{ target: targetAt(), error }]);
  expect(claims.taken(young)?.holder ?? null).toBe(holder);
  expect(claims.writer(targetAt(), young.metadata) ?? null).toBe(holder);
  claims.forget("a");
  expect(claims.taken(young)?.holder).toBe(`${namespace}/old`);
});

function denied(): Error {
  return new Route53Denied({ zone: "Z1", fault: "AccessDenied" });
}

function unreachable(): Error {
  return new Route53Unreachable({ zone: "Z1", fault: "ETIMEDOUT" });
}
