import type { Pod } from "@evenkeel/kube";
import { ADDRESS, hostPort, type LabelDraft } from "./meta-labels.ts";
import { addContainer, addContainerPort, addPod, CONTAINER_LABELS, containersOf } from "./pod.ts";
import type { Surroundings } from "./surroundings.ts";

interface Backing {
  readonly pod: Pod;
  /** Ports that an endpoint of the object has. */
  readonly ports: Set<number>;
}

/** What an endpoint stands for. */
interface Reference {
  readonly kind?: string;
  readonly namespace?: string;
  readonly name?: string;
}

/** The pods behind the endpoints of one object, while its group is made. */
export class BackingPods {
  readonly #around: Surroundings;
  readonly #pods = new Map<string, Backing>();

  constructor(around: Surroundings) {
    this.#around = around;
  }

  /**
   * Adds the labels of the pod that an endpoint refers to, and of the container that has the endpoint's port, if they
   * are seen. With `protocol`, the port's protocol is that one and not the container's.
   */
  add(target: LabelDraft, reference: Reference | undefined, port: number | undefined, protocol?: string): void {
    const key = `${reference?.namespace ?? ""}/${reference?.name ?? ""}`;
    const pod = reference?.kind === "Pod" ? this.#around.pod(key) : undefined;
    if (!pod) return;
    const known = this.#pods.get(key);
    const backing = known ?? { pod, ports: new Set() };
    if (!known) this.#pods.set(key, backing);
    addPod(target, pod, this.#around);
    if (port === undefined) return;
    backing.ports.add(port);
    // Where several containers have the port, the last one counts.
    for (const { container, isInit } of containersOf(pod)) {
      const found = container.ports?.find(({ containerPort }) => containerPort === port);
      if (!found) continue;
      for (const name of CONTAINER_LABELS) target.delete(name);
      addContainer(target, container, isInit);
      addContainerPort(target, { ...found, ...(protocol !== undefined && { protocol }) });
    }
  }

  /** A target for each container port of these pods that no endpoint has. */
  *otherPorts(): Iterable<LabelDraft> {
    for (const { pod, ports } of this.#pods.values()) {
      const ip = pod.status?.podIP ?? "";
      if (ip === "") continue;
      for (const { container, isInit } of containersOf(pod)) {
        for (const port of container.ports ?? []) {
          if (ports.has(port.containerPort)) continue;
          const target: LabelDraft = new Map([[ADDRESS, hostPort(ip, port.containerPort)]]);
          addContainer(target, container, isInit);
          addContainerPort(target, port);
          addPod(target, pod, this.#around);
          yield target;
        }
      }
    }
  }
}
