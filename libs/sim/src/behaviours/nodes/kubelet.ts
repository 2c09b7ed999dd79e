import { type Fields, fieldsOr, listOr, textOr } from "../../json.ts";
import type { StoredObject } from "../../object.ts";
import { timestamp } from "../../objects/identity.ts";
import type { Change } from "../../storage/store.ts";
import type { Behaviour, World } from "../behaviour.ts";
import { ObjectIndex } from "../object-index.ts";
import {
  isGoing,
  isOver,
  placeOf,
  putStatus,
  specOf,
  statusOf,
  tables,
  typeOf,
  withConditions,
} from "../object-state.ts";
import { Work } from "../work.ts";
import { isNodeReady } from "./node-ready.ts";
import { PodAddresses } from "./pod-addresses.ts";

export interface KubeletOptions {
  /**
   * Milliseconds from a pod's binding until it runs and is ready; of each pod if it is a function. 1000 unless told.
   */
  readonly startDelay?: number | ((pod: StoredObject) => number);
  /** Milliseconds from a pod's deletion until it is gone, at most its grace period. 1000 unless told. */
  readonly terminationDelay?: number | ((pod: StoredObject) => number);
  /** Where pods' addresses come from; `10.244.0.0/16` unless told. */
  readonly podCidr?: string;
}

/**
 * Runs the pods that are bound to ready nodes: after a delay they run and are ready, after another they are gone.
 * Nothing is executed, and a status that others write of a running pod stays. Pods of nodes that are not there, or not
 * ready, stay as they are.
 */
export function kubelet(options: KubeletOptions = {}): Behaviour {
  return (world) => {
    const kubelets = new Kubelets(world, options);
    const stop = world.store.listen((table, change) => {
      if (table.name === tables.pods) kubelets.podChanged(change);
      if (table.name === tables.nodes) kubelets.nodeChanged(change);
    });
    return () => {
      stop();
      kubelets.stop();
    };
  };
}

/** What a pod waits for, and from when to when. */
interface Wait {
  readonly what: "start" | "end";
  readonly due: number;
  readonly cancel: () => void;
}

class Kubelets {
  readonly #world: World;
  readonly #startDelay: (pod: StoredObject) => number;
  readonly #terminationDelay: (pod: StoredObject) => number;
  readonly #addresses: PodAddresses;
  readonly #work: Work;
  readonly #podsOf = new ObjectIndex((pod) => [textOr(specOf(pod)["nodeName"])]);
  /** By the pod's uid. */
  readonly #waits = new Map<string, Wait>();
  /** The addresses that were lent, by the pod's uid. */
  readonly #lent = new Map<string, string>();

  constructor(world: World, { startDelay = 1000, terminationDelay = 1000, podCidr = "10.244.0.0/16" }: KubeletOptions) {
    this.#world = world;
    this.#work = new Work(world.clock, (key) => this.#carryOut(key));
    this.#startDelay = typeof startDelay === "number" ? () => startDelay : startDelay;
    this.#terminationDelay = typeof terminationDelay === "number" ? () => terminationDelay : terminationDelay;
    this.#addresses = new PodAddresses(podCidr);
  }

  podChanged(change: Change): void {
    this.#podsOf.note(change);
    const { type, object: pod } = change;
    if (type === "DELETED") this.#forget(pod.metadata.uid);
    else this.#attend(pod);
  }

  nodeChanged({ type, object: node }: Change): void {
    if (type === "DELETED" || !isNodeReady(node)) return;
    for (const key of this.#podsOf.get(node.metadata.name)) {
      const pod = this.#world.store.table(tables.pods).get(key);
      if (pod !== undefined) this.#attend(pod);
    }
  }

  stop(): void {
    for (const { cancel } of this.#waits.values()) cancel();
    this.#waits.clear();
    this.#work.stop();
  }

  #nodeOf(pod: StoredObject): StoredObject | undefined {
    const node = this.#world.store.table(tables.nodes).get(textOr(specOf(pod)["nodeName"]));
    return node !== undefined && isNodeReady(node) ? node : undefined;
  }

  #attend(pod: StoredObject): void {
    if (this.#nodeOf(pod) === undefined) return;
    if (isGoing(pod)) {
      const grace = (pod.metadata.deletionGracePeriodSeconds ?? 0) * 1000;
      this.#wait(pod, "end", Math.min(grace, this.#terminationDelay(pod)));
    } else if (textOr(statusOf(pod)["phase"], "Pending") === "Pending" && !this.#waits.has(pod.metadata.uid)) {
      this.#wait(pod, "start", this.#startDelay(pod));
    }
  }

  /** Waits for the end instead of a start, and for an earlier end instead of a later one. */
  #wait(pod: StoredObject, what: Wait["what"], delay: number): void {
    const { uid } = pod.metadata;
    const due = this.#world.clock.monotonic() + delay;
    const before = this.#waits.get(uid);
    if (before?.what === what && before.due <= due) return;
    before?.cancel();
    // Thousands of pods may be due at once: they are not carried out within their timers.
    const cancel = this.#world.clock.schedule(delay, () => this.#work.add(`${what} ${uid}`));
    this.#waits.set(uid, { what, due, cancel });
  }

  #carryOut(key: string): void {
    const [what, uid = ""] = key.split(" ");
    if (this.#waits.get(uid)?.what !== what) return;
    this.#waits.delete(uid);
    const pod = this.#world.store.find(uid)?.object;
    const node = pod === undefined ? undefined : this.#nodeOf(pod);
    if (pod === undefined || node === undefined) return;
    if (what === "start") this.#start(pod, node);
    else this.#end(pod);
  }

  #start(pod: StoredObject, node: StoredObject): void {
    if (isGoing(pod) || isOver(pod)) return;
    const { clock } = this.#world;
    const { uid } = pod.metadata;
    const hostIP = hostAddress(node);
    const podIP = specOf(pod)["hostNetwork"] === true ? hostIP : (this.#lent.get(uid) ?? this.#addresses.take());
    if (podIP === undefined) return;
    if (podIP !== hostIP) this.#lent.set(uid, podIP);
    const types = ["PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"];
    const conditions = types.map((type) => ({ type, status: "True" }) as const);
    const startedAt = timestamp(clock.now());
    putStatus(this.#world, tables.pods, pod, {
      ...statusOf(pod),
      ...{ phase: "Running", startTime: startedAt, podIP, podIPs: [{ ip: podIP }] },
      ...(hostIP === undefined ? {} : { hostIP, hostIPs: [{ ip: hostIP }] }),
      conditions: withConditions(pod, conditions, clock.now()),
      containerStatuses: listOr(specOf(pod)["containers"]).map((container) => running(container, uid, startedAt)),
    });
  }

  #end(pod: StoredObject): void {
    const { objects, types } = this.#world;
    objects.delete(typeOf(types, tables.pods), placeOf(pod), { gracePeriodSeconds: 0 });
  }

  #forget(uid: string): void {
    this.#waits.get(uid)?.cancel();
    this.#waits.delete(uid);
    const address = this.#lent.get(uid);
    if (address !== undefined) this.#addresses.release(address);
    this.#lent.delete(uid);
  }
}

function hostAddress(node: StoredObject): string | undefined {
  const internal = listOr(statusOf(node)["addresses"])
    .map(fieldsOr)
    .find(({ type }) => type === "InternalIP");
  return internal === undefined ? undefined : textOr(internal["address"]);
}

function running(container: unknown, uid: string, startedAt: string): Fields {
  const { name, image } = fieldsOr(container);
  return {
    ...{ name, image: textOr(image), imageID: "", containerID: `sim://${uid}/${textOr(name)}` },
    ...{ ready: true, started: true, restartCount: 0, state: { running: { startedAt } }, lastState: {} },
  };
}
