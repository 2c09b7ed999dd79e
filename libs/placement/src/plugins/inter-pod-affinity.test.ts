import { describe, expect, test } from "@jest/globals";
import { node, shape } from "../testing/shapes.ts";
import { Placement } from "../placement.ts";

const ZONE = "topology.kubernetes.io/zone";
const REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution";
const nodes = [
  node("a1", { labels: { [ZONE]: "a" } }),
  node("a2", { labels: { [ZONE]: "a" } }),
  node("b1", { labels: { [ZONE]: "b" } }),
  node("none"),
];
const term = (app: string, more: object = {}) => ({
  topologyKey: ZONE,
  labelSelector: { matchLabels: { app } },
  ...more,
});
const pod = (app: string, affinity: object = {}, namespace = "default") =>
  shape({}, { affinity }, { namespace, labels: { app } });
const reasons = (model: Placement, of: number) => nodes.map((_, index) => model.whyNot(of, index));
const points = (model: Placement, of: number) => model.scores(of).map(({ plugins }) => plugins.InterPodAffinity);

describe("required affinity", () => {
  test("wants a matching pod in the domain", () => {
    const model = new Placement(nodes, [pod("web", { podAffinity: { [REQUIRED]: [term("db")] } }), pod("db")]);
    expect(reasons(model, 0)).toEqual(Array(4).fill("PodAffinity"));
    model.add(1, 0);
    expect(reasons(model, 0)).toEqual([undefined, undefined, "PodAffinity", "PodAffinity"]);
    expect(model.landing(0).map(({ node: at }) => at)).toContain(1);
    model.terminate(1, 0);
    expect(model.whyNot(0, 0)).toBeUndefined();
  });

  test("lets the first pod of a group be anywhere in a domain", () => {
    const model = new Placement(nodes, [pod("web", { podAffinity: { [REQUIRED]: [term("web")] } })]);
    expect(reasons(model, 0)).toEqual([undefined, undefined, undefined, "PodAffinity"]);
    model.add(0, 2);
    expect(reasons(model, 0)).toEqual(["PodAffinity", "PodAffinity", undefined, "PodAffinity"]);
  });
});

describe("required anti-affinity", () => {
  const avoids = pod("web", { podAntiAffinity: { [REQUIRED]: [term("db")] } });

  test("keeps the pod away from those that it selects, and those away from it", () => {
    const model = new Placement(nodes, [avoids, pod("db")]);
    model.add(1, 0);
    expect(reasons(model, 0)).toEqual(["PodAntiAffinity", "PodAntiAffinity", undefined, undefined]);
    model.add(0, 2);
    expect(reasons(model, 1)).toEqual([undefined, undefined, "AntiAffinityOfOthers", undefined]);
    model.terminate(0, 2);
    expect(model.whyNot(1, 2)).toBe("AntiAffinityOfOthers");
  });

  test("is known of a shape that comes later", () => {
    const model = new Placement(nodes, [pod("db")]);
    expect(model.landing(0)).toHaveLength(4);
    const later = model.addShape(avoids);
    model.add(later, 0);
    expect(
      model
        .landing(0)
        .map(({ node: at }) => at)
        .toSorted(),
    ).toEqual([2, 3]);
  });
});

describe("namespaces of a term", () => {
  test.each([
    ["its own by default", {}, [true, false]],
    ["those that it names", { namespaces: ["shop"] }, [false, true]],
    ["those that it selects", { namespaceSelector: { matchLabels: { team: "shop" } } }, [false, true]],
    ["all", { namespaceSelector: {} }, [true, true]],
  ])("are %s", (_, more, avoided) => {
    const avoids = pod("web", { podAntiAffinity: { [REQUIRED]: [term("db", more)] } });
    const results = ["default", "shop"].map((namespace) => {
      const model = new Placement(nodes, [avoids, pod("db", {}, namespace)], { shop: { team: "shop" } });
      model.add(1, 0);
      return model.whyNot(0, 0) === "PodAntiAffinity";
    });
    expect(results).toEqual(avoided);
  });
});

describe("preferred terms", () => {
  const preferred = (app: string, weight: number) => ({ [PREFERRED]: [{ weight, podAffinityTerm: term(app) }] });

  test("draw a pod to others or away from them", () => {
    const model = new Placement(nodes, [
      pod("web", { podAffinity: preferred("db", 10), podAntiAffinity: preferred("cache", 30) }),
      pod("db"),
      pod("cache"),
    ]);
    expect(points(model, 0)).toEqual([0, 0, 0, 0]);
    model.add(1, 0);
    model.add(2, 2);
    // Between -30 in zone b and 10 in zone a; nothing speaks for or against a node without a zone.
    expect(points(model, 0)).toEqual([200, 200, 0, 150]);
  });

  test("of pods that run already count for a new one, and what they require counts 1", () => {
    const model = new Placement(nodes, [
      pod("db"),
      pod("web", { podAffinity: preferred("db", 2) }),
      pod("api", { podAffinity: { [REQUIRED]: [term("db")] } }),
    ]);
    model.add(1, 0);
    model.add(2, 2);
    expect(points(model, 0)).toEqual([200, 200, 100, 0]);
  });
});
