import { listOr, textOr } from "../../json.ts";
import { keyOf, type StoredObject } from "../../object.ts";
import type { Change } from "../../storage/store.ts";
import type { Behaviour, World } from "../behaviour.ts";
import { isGoing, isOver, putStatus, specOf, statusOf, tables, withConditions } from "../object-state.ts";
import { Work } from "../work.ts";
import { freeShare, type NodeRoom, whyNot } from "./fit.ts";
import { allocatableOf, type Amounts, NOTHING, plus, requestsOf } from "./requests.ts";

/**
 * Binds each pending pod to the node where most stays free, the first by name among equals. Of nodes it asks that they are ready,
 * schedulable, selected and tolerated, and have room for what the pod requests. Affinity, spreading and preemption are not simulated.
 */
export const scheduling: Behaviour = (world) => {
  const scheduler = new Scheduler(world);
  const stop = world.store.listen((table, change) => {
    if (table.name === tables.nodes) scheduler.nodeChanged(change);
    if (table.name === tables.pods) scheduler.podChanged(change);
  });
  return () => {
    stop();
    scheduler.stop();
  };
};

class Scheduler {
  readonly #world: World;
  readonly #work: Work;
  /** By name, and in the order of names. */
  #nodes = new Map<string, NodeRoom>();
  /** By node, also those that are not there: what the pods take up that are bound to it. */
  readonly #used = new Map<string, Amounts>();
  /** Pods that found no node; they are tried again when there may be more room. */
  readonly #waiting = new Set<string>();

  constructor(world: World) {
    this.#world = world;
    this.#work = new Work(world.clock, (key) => this.#place(key));
  }

  nodeChanged({ type, object: node }: Change): void {
    const { name } = node.metadata;
    const known = this.#nodes.has(name);
    if (type === "DELETED") this.#nodes.delete(name);
    else this.#nodes.set(name, { node, allocatable: allocatableOf(node), used: this.#used.get(name) ?? NOTHING });
    if (!known) this.#nodes = new Map([...this.#nodes].sort(([one], [other]) => (one < other ? -1 : 1)));
    this.#retry();
  }

  podChanged({ type, object: pod, previous }: Change): void {
    const before = previous === undefined ? "" : occupied(previous);
    const after = type === "DELETED" ? "" : occupied(pod);
    if (before !== after) {
      if (previous !== undefined && before !== "") this.#take(before, requestsOf(previous), -1);
      if (after !== "") this.#take(after, requestsOf(pod), 1);
      if (before !== "") this.#retry();
    }
    if (type === "DELETED") this.#waiting.delete(keyOf(pod));
    else if (isPending(pod) && !this.#waiting.has(keyOf(pod))) this.#work.add(keyOf(pod));
  }

  stop(): void {
    this.#work.stop();
  }

  #take(name: string, requests: Amounts, sign: 1 | -1): void {
    const used = plus(this.#used.get(name) ?? NOTHING, requests, sign);
    if (used.pods === 0) this.#used.delete(name);
    else this.#used.set(name, used);
    const room = this.#nodes.get(name);
    if (room !== undefined) this.#nodes.set(name, { ...room, used });
  }

  #retry(): void {
    for (const key of this.#waiting) this.#work.add(key);
    this.#waiting.clear();
  }

  #place(key: string): void {
    const { store, clock } = this.#world;
    const table = store.table(tables.pods);
    const pod = table.get(key);
    if (pod === undefined || !isPending(pod)) return;
    const { node, reasons } = this.#choose(pod);
    if (node === undefined) {
      this.#waiting.add(key);
      const message = explain(this.#nodes.size, reasons);
      const condition = { type: "PodScheduled", status: "False", reason: "Unschedulable", message } as const;
      const conditions = withConditions(pod, [condition], clock.now());
      putStatus(this.#world, tables.pods, pod, { ...statusOf(pod), conditions });
      return;
    }
    const conditions = withConditions(pod, [{ type: "PodScheduled", status: "True" }], clock.now());
    // A binding is the one write that sets the node of a pod; no update may.
    store.put(table, {
      ...pod,
      spec: { ...specOf(pod), nodeName: node },
      status: { ...statusOf(pod), conditions },
    });
  }

  #choose(pod: StoredObject): { node: string | undefined; reasons: ReadonlyMap<string, number> } {
    const requests = requestsOf(pod);
    const reasons = new Map<string, number>();
    let [node, most]: [string | undefined, number] = [undefined, -Infinity];
    for (const [name, room] of this.#nodes) {
      const reason = whyNot(pod, requests, room);
      if (reason !== undefined) {
        reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
        continue;
      }
      const free = freeShare(requests, room);
      if (free > most) [node, most] = [name, free];
    }
    return { node, reasons };
  }
}

/** The node that a pod takes up room of; empty if none. */
function occupied(pod: StoredObject): string {
  return isOver(pod) ? "" : textOr(specOf(pod)["nodeName"]);
}

function isPending(pod: StoredObject): boolean {
  const { nodeName, schedulerName, schedulingGates } = specOf(pod);
  const ours = textOr(schedulerName, "default-scheduler") === "default-scheduler";
  return textOr(nodeName) === "" && ours && listOr(schedulingGates).length === 0 && !isGoing(pod) && !isOver(pod);
}

function explain(nodes: number, reasons: ReadonlyMap<string, number>): string {
  if (nodes === 0) return "no nodes available to schedule pods";
  const parts = [...reasons].map(([reason, count]) => `${count} ${reason}`).toSorted();
  return `0/${nodes} nodes are available: ${parts.join(", ")}.`;
}
