import { describe, expect, test } from "@jest/globals";
import type { PodJson, VolumeJson } from "./kubernetes-json.ts";
import { NO_LOOKUPS, podShape } from "./pod-shape.ts";

const containers = [{ name: "main", image: "registry.example.com:5000/web" }];

describe("the shape of a pod", () => {
  test("has the same text for pods that the scheduler treats alike", () => {
    const one: PodJson = {
      metadata: { namespace: "shop", name: "web-1", labels: { app: "web", tier: "front" } },
      spec: { containers, nodeName: "a", nodeSelector: { disk: "ssd", zone: "a" } },
    };
    const other: PodJson = {
      spec: { nodeSelector: { zone: "a", disk: "ssd" }, containers, nodeName: "b" },
      metadata: { labels: { tier: "front", app: "web" }, name: "web-2", namespace: "shop" },
    };
    expect(JSON.stringify(podShape(one))).toBe(JSON.stringify(podShape(other)));
  });

  test("has images by the name under which nodes list them", () => {
    expect(podShape({ spec: { containers } }).images).toEqual(["registry.example.com:5000/web:latest"]);
  });

  test("has host ports of containers and sidecars, not of init steps", () => {
    const ports = (hostPort: number) => ({ ports: [{ hostPort }, {}] });
    const shape = podShape({
      spec: {
        containers: [ports(80)],
        initContainers: [ports(81), { ...ports(82), restartPolicy: "Always" }],
      },
    });
    expect(shape.hostPorts.map(({ address, protocol, port }) => `${address} ${protocol} ${port}`)).toEqual([
      "0.0.0.0 TCP 80",
      "0.0.0.0 TCP 82",
    ]);
  });

  test("has its own namespace in affinity terms that name none", () => {
    const term = { topologyKey: "zone", labelSelector: {} };
    const of = (more: object) =>
      podShape({
        metadata: { namespace: "shop" },
        spec: { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ ...term, ...more }] } } },
      }).affinity.required[0]?.namespaces;
    expect(of({})).toEqual({ names: ["shop"], selector: null });
    expect(of({ namespaces: ["b", "a"] })).toEqual({ names: ["a", "b"], selector: null });
    expect(of({ namespaceSelector: {} })).toEqual({ names: [], selector: {} });
  });

  test("has the values of matchLabelKeys in its spread constraints", () => {
    const constraint = { topologyKey: "zone", labelSelector: { matchLabels: { app: "web" } } };
    const { spread } = podShape({
      metadata: { labels: { app: "web", hash: "1" } },
      spec: { topologySpreadConstraints: [{ ...constraint, matchLabelKeys: ["hash", "missing"] }] },
    });
    expect(spread[0]?.selector).toEqual({
      matchLabels: { app: "web" },
      matchExpressions: [{ key: "hash", operator: "In", values: ["1"] }],
    });
  });

  const claimed: readonly VolumeJson[] = [{ name: "data", persistentVolumeClaim: { claimName: "c" } }];
  const volume = {
    metadata: { labels: { "topology.kubernetes.io/zone": "a" } },
    spec: { csi: { driver: "d", volumeHandle: "h" } },
  };
  test("resolves its claims", () => {
    const claim = { spec: { volumeName: "v", accessModes: ["ReadWriteOncePod"] } };
    const lookups = { ...NO_LOOKUPS, claim: () => claim, volume: () => volume };
    expect(podShape({ spec: { volumes: claimed } }, lookups).volumes).toEqual([
      { name: "d/h", csiDriver: "d", onePod: true, zones: { "topology.kubernetes.io/zone": "a" }, nodeAffinity: [] },
    ]);
  });

  test.each([
    ["OtherScheduler", { schedulerName: "mine" }],
    ["SchedulingGates", { schedulingGates: [{ name: "wait" }] }],
    ["ResourceClaims", { resourceClaims: [{ name: "gpu" }] }],
    ["UnknownQuantity", { overhead: { cpu: "much" } }],
    ["UnboundClaim", { volumes: claimed }],
    ["UnknownVolume", { volumes: [{ name: "disk", awsElasticBlockStore: {} }] }],
    [null, { schedulerName: "default-scheduler" }],
  ])("says that the choice is not modelled: %p", (unmodelled, spec) => {
    expect(podShape({ spec }).unmodelled).toBe(unmodelled);
  });
});
