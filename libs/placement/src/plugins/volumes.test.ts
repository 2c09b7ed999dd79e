import { describe, expect, test } from "@jest/globals";
import type { VolumeFacts } from "../facts.ts";
import { node, shape } from "../testing/shapes.ts";
import { Placement } from "../placement.ts";

const ZONE = "topology.kubernetes.io/zone";
const facts = (name: string, more: Partial<VolumeFacts> = {}): VolumeFacts => ({
  ...{ name, nodeAffinity: [], zones: {}, csiDriver: null, onePod: false },
  ...more,
});
const using = (...volumes: VolumeFacts[]) => ({ ...shape(), volumes });
const inZone = (zone: string) => node(zone, { labels: { [ZONE]: zone } });

describe("volumes", () => {
  test("keep a pod where the volume can be reached", () => {
    const nodeAffinity = [{ matchExpressions: [{ key: ZONE, operator: "In", values: ["a"] }] }];
    const model = new Placement([inZone("a"), inZone("b")], [using(facts("v", { nodeAffinity }))]);
    expect([model.whyNot(0, 0), model.whyNot(0, 1)]).toEqual([undefined, "VolumeNodeAffinity"]);
  });

  test.each([
    ["the zone", { [ZONE]: "a" }, [undefined, "VolumeZone", undefined]],
    ["one of several zones", { [ZONE]: "b__c" }, ["VolumeZone", undefined, undefined]],
    [
      "a zone under its old name",
      { "failure-domain.beta.kubernetes.io/zone": "a" },
      [undefined, "VolumeZone", undefined],
    ],
  ])("with %s are found in nodes of it, and in nodes without any zone", (_, zones, reasons) => {
    const nodes = [inZone("a"), inZone("b"), node("nowhere")];
    const model = new Placement(nodes, [using(facts("v", { zones }))]);
    expect(nodes.map((_node, index) => model.whyNot(0, index))).toEqual(reasons);
  });

  test("of one pod only are free once that pod is gone", () => {
    const model = new Placement([node("a"), node("b")], [using(facts("v", { onePod: true }))]);
    model.add(0, 0);
    expect(model.whyNot(0, 1)).toBe("VolumeInUse");
    expect(model.landing(0)).toEqual([]);
    expect(model.landingAfter(0, 0, "terminating")).toEqual([]);
    expect(model.landingAfter(0, 0, "gone")).toHaveLength(2);
  });

  test("are attached up to the limit of the driver, each volume once", () => {
    const csiDriver = "disk.example.com";
    const [one, other] = [facts("one", { csiDriver }), facts("other", { csiDriver })];
    const nodes = [node("a", { attachLimits: { [csiDriver]: 1 } }), node("b")];
    const model = new Placement(nodes, [using(one), using(other), using(one, other)]);
    model.add(0, 0);
    expect([0, 1, 2].map((of) => model.whyNot(of, 0))).toEqual([undefined, "VolumeLimit", "VolumeLimit"]);
    expect(model.whyNot(2, 1)).toBeUndefined();
  });
});
