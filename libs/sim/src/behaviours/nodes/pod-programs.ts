import { textOr } from "../../json.ts";
import type { StoredObject } from "../../object.ts";
import type { Behaviour } from "../behaviour.ts";
import { isGoing, statusOf, tables } from "../object-state.ts";

/** A pod that runs. */
export interface RunningPod {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly address: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** What stands for a pod's containers. */
export interface PodProgram {
  /** The pod was told to go; it may serve on until it is gone. */
  terminate?(): void;
  /** The pod is gone. */
  kill(): void;
}

/**
 * Runs a program in this process for each pod that runs: a server on the pod's address, if `podCidr` of the kubelet is
 * a range of loopback. `start` says with nothing that it has no program for a pod.
 */
export function podPrograms(start: (pod: RunningPod) => PodProgram | undefined): Behaviour {
  return ({ store }) => {
    const programs = new Map<string, PodProgram>();
    const leaving = new Set<string>();
    const kill = (uid: string) => {
      programs.get(uid)?.kill();
      programs.delete(uid);
      leaving.delete(uid);
    };
    const unlisten = store.listen((table, { type, object: pod }) => {
      if (table.name !== tables.pods) return;
      const { uid } = pod.metadata;
      if (type === "DELETED") {
        kill(uid);
        return;
      }
      if (isGoing(pod) && programs.has(uid) && !leaving.has(uid)) {
        leaving.add(uid);
        programs.get(uid)?.terminate?.();
      }
      const running = runningPod(pod);
      const program = running && !isGoing(pod) && !programs.has(uid) ? start(running) : undefined;
      if (program) programs.set(uid, program);
    });
    return () => {
      unlisten();
      for (const uid of [...programs.keys()]) kill(uid);
    };
  };
}

function runningPod(pod: StoredObject): RunningPod | undefined {
  const { namespace = "", name, uid, labels = {} } = pod.metadata;
  const { phase, podIP } = statusOf(pod);
  const address = textOr(podIP);
  return phase === "Running" && address !== "" ? { namespace, name, uid, address, labels } : undefined;
}
