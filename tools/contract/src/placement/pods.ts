import { IMAGES, ZONE } from "./nodes.ts";
import type { SeededRandom } from "./random.ts";

const APPS = ["web", "api", "db", "cache", "queue"] as const;
const NAMESPACES = ["default", "shop"] as const;
const HOSTNAME = "kubernetes.io/hostname";

/** Volumes that pods of the namespace `default` may claim. */
export const VOLUMES = 24;

/** A pod with requests, preferences and constraints of many sorts, few of which it has at a time. */
export function randomPod(name: string, random: SeededRandom): object {
  const app = random.pick(APPS);
  const namespace = random.pick(NAMESPACES);
  const affinity = {
    ...random.maybe(0.3, () => ({ nodeAffinity: nodeAffinity(random) })),
    ...random.maybe(0.25, () => ({ podAffinity: podAffinity(random, app, 0.3) })),
    ...random.maybe(0.35, () => ({ podAntiAffinity: podAffinity(random, app, 0.4) })),
  };
  return {
    ...{ apiVersion: "v1", kind: "Pod" },
    metadata: { namespace, name, labels: { app, track: random.pick(["stable", "canary"]) } },
    spec: {
      containers: containers(random),
      ...random.maybe(0.15, () => ({ initContainers: [sidecarOrStep(random)] })),
      ...random.maybe(0.15, () => ({ nodeSelector: { disk: random.pick(["ssd", "hdd"]) } })),
      ...(Object.keys(affinity).length === 0 ? {} : { affinity }),
      ...random.maybe(0.4, () => ({ tolerations: [toleration(random)] })),
      ...random.maybe(0.35, () => ({ topologySpreadConstraints: spread(random, app) })),
      ...(namespace === "default" ? random.maybe(0.15, () => ({ volumes: volumes(random) })) : {}),
    },
  };
}

function containers(random: SeededRandom): readonly object[] {
  return Array.from({ length: random.between(1, 2) }, (_, index) => ({
    name: `main-${index}`,
    image: random.pick([...IMAGES, "registry.example.com/db"]),
    ...random.maybe(0.8, () => ({ resources: { requests: requests(random) } })),
    ...random.maybe(0.1, () => ({ ports: [{ containerPort: 80, ...hostPort(random) }] })),
  }));
}

function requests(random: SeededRandom): object {
  return {
    ...random.maybe(0.9, () => ({ cpu: `${random.between(1, 40) * 10}m` })),
    ...random.maybe(0.9, () => ({ memory: `${random.between(16, 900)}Mi` })),
  };
}

function hostPort(random: SeededRandom): object {
  return {
    hostPort: random.between(8080, 8082),
    ...random.maybe(0.4, () => ({ hostIP: "127.0.0.1" })),
    protocol: random.pick(["TCP", "UDP"]),
  };
}

function sidecarOrStep(random: SeededRandom): object {
  return {
    ...{ name: "first", image: random.pick(IMAGES), resources: { requests: requests(random) } },
    ...random.maybe(0.5, () => ({ restartPolicy: "Always" })),
  };
}

function toleration(random: SeededRandom): object {
  return random.pick<object>([
    { operator: "Exists" },
    { key: "dedicated", operator: "Equal", value: "gpu", effect: "NoSchedule" },
    { key: "dedicated", operator: "Exists" },
    { key: "busy", value: "yes" },
    { key: "old", operator: "Exists", effect: "PreferNoSchedule" },
  ]);
}

function nodeAffinity(random: SeededRandom): object {
  const expression = (): object =>
    random.pick([
      { key: "tier", operator: "Gt", values: ["1"] },
      { key: "tier", operator: "Lt", values: ["5"] },
      { key: "disk", operator: "In", values: ["ssd"] },
      { key: ZONE, operator: "NotIn", values: ["c"] },
      { key: "rack", operator: "Exists" },
    ]);
  const term = (): object => ({ matchExpressions: [expression()] });
  return {
    ...random.maybe(0.5, () => ({
      requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [term(), term()] },
    })),
    ...random.maybe(0.7, () => ({
      preferredDuringSchedulingIgnoredDuringExecution: [1, 2].map(() => ({
        weight: random.between(1, 100),
        preference: term(),
      })),
    })),
  };
}

function podAffinity(random: SeededRandom, own: string, required: number): object {
  const term = (): object => ({
    topologyKey: random.pick([HOSTNAME, ZONE, "rack"]),
    labelSelector: random.pick([
      { matchLabels: { app: random.pick(APPS) } },
      { matchLabels: { app: own } },
      { matchExpressions: [{ key: "track", operator: "NotIn", values: ["stable"] }] },
    ]),
    ...random.maybe(0.2, () => ({ namespaces: ["default", "shop"] })),
    ...random.maybe(0.2, () => ({ namespaceSelector: random.pick([{}, { matchLabels: { team: "shop" } }]) })),
  });
  // Anti-affinity to everything of an app soon leaves no node, so what is required is narrow.
  const narrow = (): object => ({
    topologyKey: random.pick([HOSTNAME, "rack"]),
    labelSelector: { matchLabels: { app: own, track: "canary" } },
  });
  return {
    ...random.maybe(required, () => ({ requiredDuringSchedulingIgnoredDuringExecution: [narrow()] })),
    ...random.maybe(0.8, () => ({
      preferredDuringSchedulingIgnoredDuringExecution: [{ weight: random.between(1, 100), podAffinityTerm: term() }],
    })),
  };
}

function spread(random: SeededRandom, app: string): readonly object[] {
  return [random.pick([ZONE, "rack"]), HOSTNAME].slice(0, random.between(1, 2)).map((topologyKey) => {
    const whenUnsatisfiable = random.pick(["DoNotSchedule", "ScheduleAnyway", "ScheduleAnyway"]);
    const selectors = [
      { labelSelector: { matchLabels: { app } } },
      { labelSelector: { matchLabels: { app, track: "stable" } } },
      { labelSelector: { matchLabels: { app } }, matchLabelKeys: ["track"] },
      { labelSelector: {} },
    ] as const;
    return {
      ...{ topologyKey, whenUnsatisfiable, maxSkew: random.between(1, 4) },
      ...random.pick<object>(selectors),
      ...(whenUnsatisfiable === "DoNotSchedule" ? random.maybe(0.3, () => ({ minDomains: random.between(1, 3) })) : {}),
      ...random.maybe(0.3, () => ({ nodeTaintsPolicy: "Honor" })),
      ...random.maybe(0.3, () => ({ nodeAffinityPolicy: "Ignore" })),
    };
  });
}

function volumes(random: SeededRandom): readonly object[] {
  const claimName = `volume-${random.between(0, VOLUMES - 1)}`;
  return [{ name: "data", persistentVolumeClaim: { claimName } }];
}
