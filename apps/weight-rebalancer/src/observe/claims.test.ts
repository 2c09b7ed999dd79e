import { expect, test } from "@jest/globals";
import { parseRebalance, type Rebalance } from "@evenkeel/api";
import { outsideOf } from "../outside.ts";
import type { StoredRebalance } from "../rebalance-resource.ts";
import { Claims, claimedTargets } from "./claims.ts";

const notCalled = () => {
  throw new Error("a claim makes no call");
};
const outside = outsideOf({
  prometheus: { source: notCalled },
  route53: { target: notCalled },
  httpRoutes: { get: notCalled, patch: notCalled },
});

const rebalance = (name: string, created: string, uid: string, change: object = {}): Rebalance => {
  const parsed = parseRebalance({
    apiVersion: "rebalancer.ch1aki.github.io/v1",
    kind: "Rebalance",
    metadata: { namespace: "shop", name, uid, creationTimestamp: created },
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

/** Who of these may not write, with the holder of the target. */
const refused = (...objects: readonly Rebalance[]) => {
  const names = claimedTargets(outside);
  const stored = objects as unknown as readonly StoredRebalance[];
  const store = {
    by: (_index: "target", target: string) => stored.filter((each) => names(each).includes(target)).values(),
  };
  const claims = new Claims(store, outside);
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
