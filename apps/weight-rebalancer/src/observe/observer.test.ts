import { expect, test } from "@jest/globals";
import { parseRebalance } from "@evenkeel/api";
import { FakeClock } from "@evenkeel/runtime/testing";
import { Route53Denied } from "../errors.ts";
import { NO_MEMORY } from "../decide/snapshot.ts";
import type { WeightTarget } from "../targets/weight-target.ts";
import { Observer } from "./observer.ts";

const NAME = "route53 Z1/www.example.com A blue";

test("a target that cannot be read is learned while the metric server still hangs", async () => {
  const denied = new Route53Denied({ zone: "Z1", fault: "AccessDenied" });
  const rejects = () => Promise.reject(denied);
  const target: WeightTarget = { name: NAME, range: { minimum: 0, maximum: 255 }, read: rejects, write: rejects };
  const hangs = { name: "prometheus", read: () => new Promise<never>(() => undefined) };
  const learned: unknown[] = [];
  const observer = new Observer({
    outside: { sources: () => [hangs], targets: () => [target], target: () => target },
    original: { live: () => Promise.resolve(null) },
    claims: { taken: () => null, learn: (uid, targets) => learned.push(uid, ...targets.map(({ error }) => error)) },
    clock: new FakeClock(),
  });
  void observer.observe(rebalance(), NO_MEMORY, new AbortController().signal);
  await new Promise((resolve) => setImmediate(resolve));
  expect(learned).toEqual(["uid-1", denied]);
});

function rebalance() {
  const spec = {
    policy: { targettracking: { targetValue: 1000, baseValue: 8 } },
    target: { route53: { hostedZoneID: "Z1", resource: { name: "www.example.com", type: "A", identifier: "blue" } } },
    metrics: { prometheus: { address: "http://prometheus:9090", query: "sum(requests)" } },
  };
  const metadata = { namespace: "shop", name: "checkout", uid: "uid-1" };
  const parsed = parseRebalance({ apiVersion: "rebalancer.ch1aki.github.io/v1", kind: "Rebalance", metadata, spec });
  if (!parsed.ok) throw new Error(parsed.errors.join("; "));
  return parsed.value;
}
