import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { NO_POLICY } from "./split-policy.ts";
import type { SplitMember, SplitSnapshot } from "./split-snapshot.ts";
import { splitDecider } from "./split.ts";
import { roomFor } from "./split-weights.ts";

const room = fc.record({ cpu: fc.nat(60_000), memory: fc.nat(60_000), pods: fc.nat(60) });
const standing = fc.oneof(
  { weight: 8, arbitrary: fc.constant("Ready" as const) },
  fc.constantFrom("Unreachable" as const, "Unscored" as const, "Paused" as const),
);
const member = fc.record({
  standing,
  held: fc.oneof({ weight: 2, arbitrary: fc.constant(0) }, fc.nat(20)),
  score: fc.record({
    source: fc.oneof({ weight: 4, arbitrary: fc.constant("watts" as const) }, fc.constant("capacity" as const)),
    score: fc.nat(5000),
    free: room,
    marginalWatts: fc.oneof({ weight: 4, arbitrary: fc.integer({ min: 1, max: 400 }) }, fc.constantFrom(null, 0)),
  }),
  placedSince: fc.record({ cpu: fc.nat(5000), memory: fc.nat(5000), pods: fc.nat(5) }),
});

const snapshot = fc.record({
  total: fc.nat(120),
  requests: fc.record({ cpu: fc.nat(3000), memory: fc.nat(3000) }),
  divide: fc.constantFrom("weighted" as const, "even" as const, "overflow" as const),
  members: fc.array(member, { minLength: 1, maxLength: 6 }),
});

const toSnapshot = ({ total, requests, members, divide }: typeof snapshot extends fc.Arbitrary<infer T> ? T : never) =>
  ({
    ...{ at: "2026-01-01T00:00:00Z", kind: "Deployment", namespace: "shop", name: "web", dryRun: false },
    ...{ total, requests, policy: { ...NO_POLICY, divide } },
    members: members.map((one, index): SplitMember => {
      const scored = one.standing === "Unscored" ? { score: null } : {};
      return { ...one, ...scored, name: `cluster-${index}`, own: index === 0 };
    }),
  }) satisfies SplitSnapshot;

const partsOf = (given: SplitSnapshot): Record<string, number> =>
  Object.fromEntries(splitDecider.decide(given).after.map(({ cluster, replicas }) => [cluster, replicas]));
const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0);

/** What is wrong with a split. `expect` would take most of the time. */
function faultsOf(given: SplitSnapshot): readonly string[] {
  const { after, reason } = splitDecider.decide(given);
  const parts = after.map(({ replicas }) => replicas);
  const before = sum(given.members.map(({ held }) => held));
  const someReachable = given.members.some(({ standing }) => standing !== "Unreachable");
  const adds = reason === "HeldElsewhere" || (before < given.total && !someReachable) || sum(parts) === given.total;
  const wrong = given.members.flatMap((one, index) => {
    const more = (parts[index] ?? Number.NaN) - one.held;
    const rules = {
      unreachableKeeps: one.standing !== "Unreachable" || more === 0,
      sameTotalKeeps: before !== given.total || given.total === 0 || more === 0,
      raisedAdds: before >= given.total || more >= 0,
      loweredTakes: before <= given.total || more <= 0,
      onlyReadyGets: reason !== "Divided" || more <= 0 || one.standing === "Ready",
      withinRoom: reason !== "Divided" || more <= 0 || more <= roomFor(given, one),
    };
    return Object.entries(rules).flatMap(([rule, holds]) => (holds ? [] : [`${one.name} ${rule}`]));
  });
  return adds ? wrong : ["parts do not add up", ...wrong];
}

test("100,000 random splits add up, keep what must be kept and respect room", () => {
  fc.assert(
    fc.property(snapshot.map(toSnapshot), (given) => {
      const faults = faultsOf(given);
      if (faults.length > 0) throw new Error(faults.join(", "));
    }),
    { numRuns: 100_000 },
  );
});

/** Of a cluster that holds nothing and has room for all. */
const empty = (marginalWatts: number) => ({
  ...{ standing: "Ready" as const, held: 0, placedSince: { cpu: 0, memory: 0, pods: 0 } },
  score: { source: "watts" as const, score: 1, free: { cpu: 1e9, memory: 1e15, pods: 1e6 }, marginalWatts },
});
const watts = fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 8 });
const requests = { cpu: 100, memory: 100 };

test("100,000 times, new replicas are within one of their quota where there is room", () => {
  fc.assert(
    fc.property(watts, fc.nat(200), (each, total) => {
      const given = toSnapshot({ total, requests, divide: "weighted", members: each.map(empty) });
      const all = sum(each.map((one) => 1 / one));
      const parts = splitDecider.decide(given).after.map(({ replicas }) => replicas);
      const off = each.map((one, index) => Math.abs((parts[index] ?? Number.NaN) - total / one / all));
      if (!off.every((one) => one < 1 + 1e-6)) throw new Error(`off by ${off.join(", ")}`);
    }),
    { numRuns: 100_000 },
  );
});

test("no cluster has less than its minimum if the total is enough for all of them", () => {
  const minimums = fc.array(fc.tuple(fc.integer({ min: 1, max: 400 }), fc.nat(9)), { minLength: 1, maxLength: 8 });
  const ways = fc.constantFrom("weighted" as const, "even" as const, "overflow" as const);
  fc.assert(
    fc.property(minimums, fc.nat(50), ways, (each, more, divide) => {
      const least = each.map(([, minimum]) => minimum);
      const total = sum(least) + more;
      const { policy, ...given } = toSnapshot({ total, requests, divide, members: each.map(([one]) => empty(one)) });
      const minimum = Object.fromEntries(least.map((one, index) => [`cluster-${index}`, one]));
      const { after } = splitDecider.decide({ ...given, policy: { ...policy, minimum } });
      const parts = after.map(({ replicas }) => replicas);
      const isKept = least.every((one, index) => (parts[index] ?? -1) >= one);
      if (!isKept || sum(parts) !== total) throw new Error(`${parts.join(", ")} of ${total}`);
    }),
    { numRuns: 10_000 },
  );
});

test("a scale-down keeps the minimums while they fit", () => {
  const given = fc.tuple(snapshot.map(toSnapshot), fc.array(fc.nat(9), { minLength: 6, maxLength: 6 }));
  fc.assert(
    fc.property(given, ([{ policy, ...rest }, each]) => {
      const least = rest.members.map(({ held }, index) => Math.min(held, each[index] ?? 0));
      const minimum = Object.fromEntries(each.map((one, index) => [`cluster-${index}`, one]));
      const lowered = { ...rest, policy: { ...policy, minimum } };
      const faults = faultsOf(lowered);
      if (faults.length > 0) throw new Error(faults.join(", "));
      const parts = splitDecider.decide(lowered).after.map(({ replicas }) => replicas);
      const needed = rest.members.map(({ standing, held }, index) =>
        standing === "Unreachable" ? held : (least[index] ?? 0),
      );
      const isKept = sum(needed) > rest.total || least.every((one, index) => (parts[index] ?? -1) >= one);
      if (!isKept) throw new Error(`${parts.join(", ")} of ${rest.total}, at least ${least.join(", ")}`);
    }),
    { numRuns: 20_000 },
  );
});

test("the order of the clusters and the unit of the scores do not matter", () => {
  const ordered = snapshot.map(toSnapshot).filter(({ policy }) => policy.divide === "weighted");
  fc.assert(
    fc.property(ordered, fc.integer({ min: -8, max: 8 }), (given, power) => {
      const factor = 2 ** power;
      const inUnit = given.members.map((one): SplitMember => {
        if (one.score === null) return one;
        const { score, marginalWatts } = one.score;
        const watts = marginalWatts === null ? null : marginalWatts * factor;
        return { ...one, score: { ...one.score, score: score * factor, marginalWatts: watts } };
      });
      expect(partsOf({ ...given, members: inUnit })).toEqual(partsOf(given));
      // The own cluster stays first: where no cluster is Ready, the first that can be reached gets all.
      const [own, ...peers] = given.members;
      const isAnyReady = given.members.some(({ standing }) => standing === "Ready");
      if (own === undefined || (own.standing === "Unreachable" && !isAnyReady)) return;
      expect(partsOf({ ...given, members: [own, ...peers.toReversed()] })).toEqual(partsOf(given));
    }),
    { numRuns: 2000 },
  );
});
