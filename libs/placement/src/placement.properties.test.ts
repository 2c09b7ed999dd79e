import { expect, test } from "@jest/globals";
import fc from "fast-check";
import type { NodeFacts, PodShape } from "./facts.ts";
import { node, shape } from "./testing/shapes.ts";
import type { Landing } from "./landing.ts";
import { type Departure, Placement } from "./placement.ts";

const ZONE = "topology.kubernetes.io/zone";
const HOSTNAME = "kubernetes.io/hostname";
const app = fc.constantFrom("web", "db");
const topologyKey = fc.constantFrom(HOSTNAME, ZONE, "rack");

const nodes = (minLength: number, maxLength: number): fc.Arbitrary<readonly NodeFacts[]> =>
  fc.array(fc.record({ zone: fc.nat(3), rack: fc.nat(40), taint: fc.nat(4) }), { minLength, maxLength }).map((made) =>
    made.map(({ zone, rack, taint }, index) =>
      node(`n${index}`, {
        labels: { ...(zone === 0 ? {} : { [ZONE]: `z${zone}` }), rack: `r${rack}` },
        taints: taint === 0 ? [{ key: "busy", effect: "PreferNoSchedule" }] : [],
      }),
    ),
  );

const term = fc.record({ topologyKey, labelSelector: app.map((name) => ({ matchLabels: { app: name } })) });
const terms = (most: number) =>
  fc.record({
    requiredDuringSchedulingIgnoredDuringExecution: fc.array(term, { maxLength: most }),
    preferredDuringSchedulingIgnoredDuringExecution: fc.array(
      fc.record({ weight: fc.integer({ min: 1, max: 100 }), podAffinityTerm: term }),
      { maxLength: 1 },
    ),
  });
const constraint = fc.record({
  topologyKey,
  maxSkew: fc.integer({ min: 1, max: 3 }),
  whenUnsatisfiable: fc.constantFrom("DoNotSchedule", "ScheduleAnyway"),
  labelSelector: app.map((name) => ({ matchLabels: { app: name } })),
});

const anyShape: fc.Arbitrary<PodShape> = fc
  .record({
    app,
    cpu: fc.integer({ min: 0, max: 1500 }),
    memory: fc.integer({ min: 0, max: 6000 }),
    affinity: fc.option(fc.record({ podAffinity: terms(0), podAntiAffinity: terms(1) }), { freq: 3, nil: {} }),
    spread: fc.oneof(
      { weight: 2, arbitrary: fc.constant([]) },
      { weight: 1, arbitrary: fc.array(constraint, { maxLength: 2 }) },
    ),
    isOwned: fc.boolean(),
    hostPort: fc.option(fc.constantFrom(80, 81), { freq: 5 }),
  })
  .map((made) =>
    shape(
      {},
      {
        affinity: made.affinity,
        topologySpreadConstraints: made.spread,
        containers: [
          {
            resources: { requests: { cpu: `${made.cpu}m`, memory: `${made.memory}Mi` } },
            ports: made.hostPort === null ? [] : [{ hostPort: made.hostPort }],
          },
        ],
      },
      { labels: { app: made.app } },
      { ownerSelector: made.isOwned ? { matchLabels: { app: made.app } } : null },
    ),
  );

/** A pod of a shape comes to a node, and may go again or begin to terminate later. */
const event = fc.record({ shape: fc.nat(3), node: fc.nat(200), what: fc.constantFrom("stay", "go", "terminate") });

const world = fc.record({
  nodes: fc.oneof(nodes(1, 8), nodes(100, 120)),
  shapes: fc.array(anyShape, { minLength: 4, maxLength: 4 }),
  events: fc.array(event, { maxLength: 30 }),
});

type World = typeof world extends fc.Arbitrary<infer Value> ? Value : never;

/** Carries events out; `ask` is called between them, so that views have to follow. */
function model(given: World, ask: (of: Placement) => void = () => undefined): Placement {
  const placement = new Placement(given.nodes, given.shapes);
  const at = (index: number): number => index % given.nodes.length;
  for (const one of given.events) {
    placement.add(one.shape, at(one.node));
    ask(placement);
  }
  for (const one of given.events) {
    if (one.what === "go") placement.remove(one.shape, at(one.node));
    if (one.what === "terminate") placement.terminate(one.shape, at(one.node));
    ask(placement);
  }
  return placement;
}

const byNode = (landing: readonly Landing[]): readonly Landing[] =>
  landing.toSorted((one, other) => one.node - other.node);
const four = [0, 1, 2, 3];

test("a model that was asked all along says the same as one that is asked for the first time", () => {
  fc.assert(
    fc.property(world, (given) => {
      const asked = model(given, (of) => four.forEach((index) => of.landing(index)));
      const fresh = model(given);
      for (const index of four) expect(byNode(asked.landing(index))).toEqual(byNode(fresh.landing(index)));
    }),
    { numRuns: 60 },
  );
});

test("the best nodes are those with the best sum of scores among the feasible ones", () => {
  fc.assert(
    fc.property(world, (given) => {
      const placement = model(given);
      for (const index of four) {
        const scores = placement.scores(index);
        const most = Math.max(...scores.map(({ total }) => total));
        const expected = scores.filter(({ total }) => total === most).map((score) => score.node);
        expect(placement.best(index).toSorted((one, other) => one - other)).toEqual(expected);
      }
    }),
    { numRuns: 60 },
  );
});

test("a question about a departure answers as the departure itself would, and leaves the model as it was", () => {
  const departure = fc.constantFrom<Departure>("terminating", "gone");
  fc.assert(
    fc.property(world, departure, (given, how) => {
      const [placement, after] = [model(given), model(given)];
      const staying = given.events.find(({ what }) => what === "stay");
      if (staying === undefined) return;
      const [of, from] = [staying.shape, staying.node % given.nodes.length];
      const before = byNode(placement.landing(of));
      if (how === "gone") after.remove(of, from);
      else after.terminate(of, from);
      expect(byNode(placement.landingAfter(of, from, how))).toEqual(byNode(after.landing(of)));
      expect(byNode(placement.landing(of))).toEqual(before);
    }),
    { numRuns: 60 },
  );
});
