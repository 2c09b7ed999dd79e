import { listOr, textOr } from "../../json.ts";
import { keyOf, type StoredObject } from "../../object.ts";
import type { Change } from "../../storage/store.ts";
import type { Behaviour, World } from "../behaviour.ts";
import { isGoing, isOver, putStatus, specOf, statusOf, tables, withConditions } from "../object-state.ts";
import { Work } from "../work.ts";
import { ClusterModel, type Refusals } from "./cluster-model.ts";

/**
 * Binds each pending pod to the node that the default kube-scheduler scores best, the first by name among equals. All
 * nodes are scored, in clusters of any size. Preemption and the binding of volumes are not simulated.
 */
export const scheduling: Behaviour = (world) => {
  const scheduler = new Scheduler(world);
  const stop = world.store.listen((table, change) => {
    if (table.name === tables.nodes) scheduler.nodeChanged(change);
    if (table.name === tables.pods) scheduler.podChanged(change);
    if (table.name === tables.namespaces) scheduler.namespaceChanged();
  });
  return () => {
    stop();
    scheduler.stop();
  };
};

class Scheduler {
  readonly #world: World;
  readonly #work: Work;
  readonly #model: ClusterModel;
  /** Pods that found no node, with what may help them. */
  readonly #waiting = new Map<string, Pick<Refusals, "waitsForPods">>();

  constructor(world: World) {
    this.#world = world;
    this.#model = new ClusterModel(world.store);
    this.#work = new Work(world.clock, (key) => this.#place(key));
  }

  nodeChanged({ type, object: node }: Change): void {
    if (type === "DELETED") this.#model.removeNode(node.metadata.name);
    else this.#model.setNode(node);
    this.#retry();
  }

  namespaceChanged(): void {
    this.#model.reset();
  }

  podChanged({ type, object: pod }: Change): void {
    const key = keyOf(pod);
    const node = textOr(specOf(pod)["nodeName"]);
    const isPlaced = type !== "DELETED" && node !== "" && !isOver(pod);
    if (isPlaced && this.#model.setPod(pod, node)) this.#retry(({ waitsForPods }) => waitsForPods);
    if (!isPlaced && this.#model.removePod(key)) this.#retry();
    if (type === "DELETED") this.#waiting.delete(key);
    else if (isPending(pod) && !this.#waiting.has(key)) this.#work.add(key);
  }

  stop(): void {
    this.#work.stop();
  }

  #retry(isHelped: (pod: Pick<Refusals, "waitsForPods">) => boolean = () => true): void {
    for (const [key, pod] of this.#waiting) {
      if (!isHelped(pod)) continue;
      this.#waiting.delete(key);
      this.#work.add(key);
    }
  }

  #place(key: string): void {
    const { store, clock } = this.#world;
    const table = store.table(tables.pods);
    const pod = table.get(key);
    if (pod === undefined || !isPending(pod)) return;
    const choice = this.#model.choose(pod);
    if (!("node" in choice)) {
      this.#waiting.set(key, { waitsForPods: choice.waitsForPods });
      const message = explain(this.#model.nodeCount, choice.reasons);
      const condition = { type: "PodScheduled", status: "False", reason: "Unschedulable", message } as const;
      const conditions = withConditions(pod, [condition], clock.now());
      putStatus(this.#world, tables.pods, pod, { ...statusOf(pod), conditions });
      return;
    }
    const conditions = withConditions(pod, [{ type: "PodScheduled", status: "True" }], clock.now());
    // A binding is the one write that sets the node of a pod; no update may.
    store.put(table, {
      ...pod,
      spec: { ...specOf(pod), nodeName: choice.node },
      status: { ...statusOf(pod), conditions },
    });
  }
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
