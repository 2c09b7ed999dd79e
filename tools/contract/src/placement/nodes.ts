import { nodeManifest } from "@evenkeel/control-plane";
import type { SeededRandom } from "./random.ts";

export const ZONE = "topology.kubernetes.io/zone";
export const DRIVER = "disk.example.com";
export const IMAGES = [
  "registry.example.com/web:1",
  "registry.example.com/api:2",
  "registry.example.com/db:latest",
] as const;

const MEBIBYTE = 2 ** 20;

/** A node with labels, taints, images and a size of its own; some lack a zone, some are cordoned. */
export function randomNode(index: number, random: SeededRandom): object {
  const manifest = nodeManifest(index, {
    cpu: random.pick(["4", "8", "16", "7900m"]),
    memory: random.pick(["16Gi", "32Gi", "30500Mi"]),
    pods: random.pick(["110", "30", "250"]),
    labels: {
      ...random.maybe(0.9, () => ({ [ZONE]: random.pick(["a", "b", "c"]) })),
      ...random.maybe(0.9, () => ({ rack: `r${random.between(1, 8)}` })),
      disk: random.pick(["ssd", "hdd"]),
      tier: String(random.between(1, 5)),
    },
  });
  const taints = [
    ...(random.chance(0.15) ? [{ key: "dedicated", value: random.pick(["gpu", "db"]), effect: "NoSchedule" }] : []),
    ...(random.chance(0.3) ? [{ key: "busy", value: "yes", effect: "PreferNoSchedule" }] : []),
    ...(random.chance(0.15) ? [{ key: "old", effect: "PreferNoSchedule" }] : []),
  ];
  const images = IMAGES.filter(() => random.chance(0.4)).map((name, at) => ({
    names: [name, `${name}-alias`],
    sizeBytes: (40 + 300 * at) * MEBIBYTE,
  }));
  return {
    ...manifest,
    spec: { taints, ...random.maybe(0.06, () => ({ unschedulable: true })) },
    status: { ...(manifest["status"] as object), images },
  };
}

/** The node can attach three volumes of the driver. */
export function csiNode(name: string): object {
  const drivers = [{ name: DRIVER, nodeID: name, allocatable: { count: 3 } }];
  return { apiVersion: "storage.k8s.io/v1", kind: "CSINode", metadata: { name }, spec: { drivers } };
}
