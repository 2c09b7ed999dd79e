import type { NodeFacts, VolumeFacts } from "../facts.ts";
import { matchesTerms } from "../node-selector.ts";

const ZONE_LABELS: Readonly<Record<string, string>> = {
  "topology.kubernetes.io/zone": "topology.kubernetes.io/zone",
  "topology.kubernetes.io/region": "topology.kubernetes.io/region",
  "failure-domain.beta.kubernetes.io/zone": "topology.kubernetes.io/zone",
  "failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
};

/** VolumeBinding: a bound volume can be reached from the node. */
export function reachesVolumes(volumes: readonly VolumeFacts[], node: NodeFacts): boolean {
  return volumes.every(({ nodeAffinity }) => nodeAffinity.length === 0 || matchesTerms(nodeAffinity, node));
}

/** VolumeZone: the node is in a zone and region of each volume. A node without any such label passes. */
export function inZonesOfVolumes(volumes: readonly VolumeFacts[], { labels }: NodeFacts): boolean {
  if (!Object.keys(ZONE_LABELS).some((key) => Object.hasOwn(labels, key))) return true;
  return volumes.every(({ zones }) =>
    Object.entries(zones).every(([key, values]) => {
      const own = labels[key] ?? labels[ZONE_LABELS[key] ?? key];
      return own !== undefined && values.split("__").includes(own);
    }),
  );
}

/** Which volumes pods use, on which nodes. */
export class VolumeUse {
  readonly #nodes: readonly NodeFacts[];
  /** Pods that use a volume, by its name; of ReadWriteOncePod volumes. */
  readonly #users = new Map<string, number>();
  /** By node: pods that use a volume of a CSI driver, by the volume's name. */
  readonly #attached = new Map<number, Map<string, { readonly driver: string; pods: number }>>();

  constructor(nodes: readonly NodeFacts[]) {
    this.#nodes = nodes;
  }

  change(volumes: readonly VolumeFacts[], node: number, pods: number): void {
    for (const { name, csiDriver, onePod } of volumes) {
      if (onePod) this.#users.set(name, (this.#users.get(name) ?? 0) + pods);
      if (csiDriver === null) continue;
      const attached = this.#attached.get(node) ?? new Map<string, { driver: string; pods: number }>();
      this.#attached.set(node, attached);
      const use = attached.get(name) ?? { driver: csiDriver, pods: 0 };
      use.pods += pods;
      if (use.pods === 0) attached.delete(name);
      else attached.set(name, use);
    }
  }

  /** VolumeRestrictions: whether another pod, on any node, uses a ReadWriteOncePod volume. */
  inUse(volumes: readonly VolumeFacts[]): boolean {
    return volumes.some(({ name, onePod }) => onePod && (this.#users.get(name) ?? 0) > 0);
  }

  /** NodeVolumeLimits: whether the node would have more volumes of a CSI driver than it can attach. */
  exceedsLimit(volumes: readonly VolumeFacts[], node: number): boolean {
    const limits = this.#nodes[node]?.attachLimits ?? {};
    const attached = this.#attached.get(node);
    const added = new Map<string, Set<string>>();
    for (const { name, csiDriver } of volumes) {
      if (csiDriver === null || !Object.hasOwn(limits, csiDriver) || attached?.has(name) === true) continue;
      added.set(csiDriver, (added.get(csiDriver) ?? new Set()).add(name));
    }
    return [...added].some(([driver, names]) => {
      const present = [...(attached?.values() ?? [])].filter((use) => use.driver === driver).length;
      return present + names.size > (limits[driver] ?? Infinity);
    });
  }
}
