import type { PersistentVolume, PersistentVolumeClaim } from "@evenkeel/kube";
import { podShape, type PodShape } from "@evenkeel/placement";
import { POD } from "../../decide/snapshot.ts";
import type { ClusterObjects } from "../cluster/cluster-objects.ts";
import type { PodTemplate } from "../cluster/observed-pod.ts";
import type { Owners } from "./owners.ts";

/** What follows from a template: equal for all pods that share it. */
export interface TemplateFacts {
  /** Index into `shapes`. */
  readonly shape: number;
  readonly owner: number;
  /** Bits of POD that its claims tell. */
  readonly volumeFlags: number;
}

/** The shapes of pods. Templates with the same shape share it. */
export class Shapes {
  readonly shapes: PodShape[] = [];
  readonly #owners: Owners;
  readonly #facts = new Map<PodTemplate, TemplateFacts>();
  readonly #indexes = new Map<string, number>();
  readonly #claims: ReadonlyMap<string, PersistentVolumeClaim>;
  readonly #volumes: ReadonlyMap<string, PersistentVolume>;

  constructor(objects: Pick<ClusterObjects, "claims" | "volumes">, owners: Owners) {
    this.#owners = owners;
    this.#claims = new Map(
      Array.from(objects.claims, (claim) => [`${claim.metadata.namespace ?? ""}/${claim.metadata.name ?? ""}`, claim]),
    );
    this.#volumes = new Map(Array.from(objects.volumes, (volume) => [volume.metadata.name ?? "", volume]));
  }

  factsOf(template: PodTemplate): TemplateFacts {
    const known = this.#facts.get(template);
    if (known !== undefined) return known;
    const used = new Set<PersistentVolume>();
    const shape = podShape(template, {
      claim: (namespace, name) => this.#claims.get(`${namespace}/${name}`),
      volume: (name) => {
        const volume = this.#volumes.get(name);
        if (volume !== undefined) used.add(volume);
        return volume;
      },
      ownerSelector: this.#owners.selectorOf(template),
    });
    const facts = {
      shape: this.#indexOf(shape),
      owner: this.#owners.indexOf(template),
      volumeFlags: volumeFlags(template, used),
    };
    this.#facts.set(template, facts);
    return facts;
  }

  #indexOf(shape: PodShape): number {
    const text = JSON.stringify(shape);
    const known = this.#indexes.get(text);
    if (known !== undefined) return known;
    this.#indexes.set(text, this.shapes.length);
    return this.shapes.push(shape) - 1;
  }
}

/** A volume on one node, one that only some nodes reach, and any other that holds data. */
function volumeFlags({ spec }: PodTemplate, used: ReadonlySet<PersistentVolume>): number {
  let flags = 0;
  for (const { spec: volume } of used) {
    if (volume?.local !== undefined || volume?.hostPath !== undefined) flags |= POD.localVolume;
    else if (volume?.nodeAffinity !== undefined) flags |= POD.zonalVolume;
    else flags |= POD.otherVolume;
  }
  const names = (spec?.volumes ?? []).filter(
    ({ emptyDir, hostPath }) => emptyDir === undefined && hostPath === undefined,
  );
  return flags === 0 && names.length > 0 ? POD.otherVolume : flags;
}
