import { describe, expect, test } from "@jest/globals";
import { node, shape } from "../testing/shapes.ts";
import { Placement } from "../placement.ts";
import { spreadScore } from "./topology-spread.ts";

const ZONE = "topology.kubernetes.io/zone";
const HOSTNAME = "kubernetes.io/hostname";
const selector = { matchLabels: { app: "web" } };
const inZone = (name: string, zone: string, more: object = {}) => node(name, { labels: { [ZONE]: zone }, ...more });
const web = (constraints: readonly object[], spec: object = {}) =>
  shape({}, { topologySpreadConstraints: constraints, ...spec }, { labels: { app: "web" } });
const hard = { topologyKey: ZONE, maxSkew: 1, whenUnsatisfiable: "DoNotSchedule", labelSelector: selector };

describe("hard spread", () => {
  test("keeps the difference between zones, counting the pod itself", () => {
    const model = new Placement([inZone("a1", "a"), inZone("a2", "a"), inZone("b1", "b"), node("none")], [web([hard])]);
    const reasons = () => [0, 1, 2, 3].map((index) => model.whyNot(0, index));
    model.add(0, 0);
    expect(reasons()).toEqual(["SpreadSkew", "SpreadSkew", undefined, "SpreadLabelMissing"]);
    expect(model.landing(0).map(({ node: at }) => at)).toEqual([2]);
    model.terminate(0, 0);
    expect(reasons().slice(0, 3)).toEqual([undefined, undefined, undefined]);
  });

  test("takes zones without a matching node as absent, unless it ignores affinity", () => {
    const nodes = [inZone("a", "a"), inZone("b", "b")];
    const spec = { nodeSelector: { [ZONE]: "a" } };
    const model = new Placement(nodes, [web([hard], spec), web([{ ...hard, nodeAffinityPolicy: "Ignore" }], spec)]);
    model.add(0, 0);
    expect([model.whyNot(0, 0), model.whyNot(1, 0)]).toEqual([undefined, "SpreadSkew"]);
  });

  test("counts an empty zone as 0 while there are fewer than minDomains", () => {
    const model = new Placement([inZone("a", "a")], [web([{ ...hard, minDomains: 2 }]), web([hard])]);
    model.add(0, 0);
    expect([model.whyNot(0, 0), model.whyNot(1, 0)]).toEqual(["SpreadSkew", undefined]);
  });

  test("honours taints where it is told to", () => {
    const taints = [{ key: "gpu", effect: "NoSchedule" }];
    const nodes = [inZone("a", "a"), inZone("b", "b", { taints })];
    const model = new Placement(nodes, [web([hard]), web([{ ...hard, nodeTaintsPolicy: "Honor" }])]);
    model.add(0, 0);
    expect([model.whyNot(0, 0), model.whyNot(1, 0)]).toEqual(["SpreadSkew", undefined]);
  });

  test("over host names of many nodes", () => {
    const nodes = Array.from({ length: 130 }, (_, index) => node(`n${index}`));
    const model = new Placement(nodes, [web([{ ...hard, topologyKey: HOSTNAME }])]);
    for (let index = 0; index < 129; index++) model.add(0, index);
    expect(model.landing(0)).toEqual([{ node: 129, probability: 1 }]);
    model.add(0, 129);
    expect(model.feasible(0)).toHaveLength(130);
  });
});

describe("soft spread", () => {
  const points = (model: Placement) => model.scores(0).map(({ plugins }) => plugins.PodTopologySpread);

  test("weighs what is there by the number of domains", () => {
    const soft = { ...hard, whenUnsatisfiable: "ScheduleAnyway" };
    const model = new Placement([inZone("a1", "a"), inZone("a2", "a"), inZone("b1", "b"), node("none")], [web([soft])]);
    expect(points(model)).toEqual([200, 200, 200, 0]);
    model.add(0, 0);
    model.add(0, 0);
    // Two pods in one of two zones: round(2 ln 4) = 3, and 0 in the other.
    expect(points(model)).toEqual([0, 0, 200, 0]);
  });

  test("by default follows the selector of the owner", () => {
    const owned = shape({}, {}, { labels: { app: "web" } }, { ownerSelector: selector });
    const model = new Placement([inZone("a", "a"), inZone("b", "b"), node("none")], [owned, shape()]);
    // Without pods each constraint still counts maxSkew - 1, 2 by host name and 4 by zone.
    expect(points(model)).toEqual([2 * spreadScore(6, 2, 6), 2 * spreadScore(6, 2, 6), 200]);
    model.add(0, 0);
    // a: ln 5 + 2 + ln 5 + 4 = 9 with 3 nodes and 3 zones, b: 6; a node without a zone has no crowding by zone: 2.
    expect(points(model)).toEqual([2 * spreadScore(9, 2, 9), 2 * spreadScore(6, 2, 9), 2 * spreadScore(2, 2, 9)]);
    expect(model.scores(1).map(({ plugins }) => plugins.PodTopologySpread)).toEqual([0, 0, 0]);
  });

  test("counts nothing for a selector that selects everything", () => {
    const model = new Placement([node("a"), node("b")], [web([{ ...hard, topologyKey: HOSTNAME, labelSelector: {} }])]);
    model.add(0, 0);
    expect(model.feasible(0)).toEqual([0, 1]);
  });
});
