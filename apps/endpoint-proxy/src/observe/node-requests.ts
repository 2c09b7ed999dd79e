import type { Pod, ReadStore } from "@evenkeel/kube";
import { effectiveRequests } from "@evenkeel/placement";
import type { Room } from "../decide/standing.ts";

const NONE: Room = { cpu: 0, memory: 0, pods: 0 };

/** What the pods of each node request, kept up to date with the pods, so that reading it costs nothing per pod. */
export class NodeRequests {
  readonly #byNode = new Map<string, Room>();

  constructor(pods: Pick<ReadStore<Pod>, "subscribe">) {
    pods.subscribe((change) => {
      if (change.type !== "added") this.#add(change.old, -1);
      if (change.type !== "deleted") this.#add(change.object, 1);
    });
  }

  of(node: string): Room {
    return this.#byNode.get(node) ?? NONE;
  }

  #add({ spec, status }: Pod, sign: 1 | -1): void {
    const node = spec?.nodeName;
    if (spec === undefined || node === undefined || isEnded(status?.phase)) return;
    const { cpu = 0, memory = 0 } = effectiveRequests(spec, status);
    const before = this.of(node);
    const after = {
      cpu: before.cpu + sign * (cpu || 0),
      memory: before.memory + sign * (memory || 0),
      pods: before.pods + sign,
    };
    if (after.pods > 0) this.#byNode.set(node, after);
    else this.#byNode.delete(node);
  }
}

function isEnded(phase: string | undefined): boolean {
  return phase === "Succeeded" || phase === "Failed";
}
