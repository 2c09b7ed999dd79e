import type { Path, ServiceSnapshot } from "../decide/snapshot.ts";
import type { Action } from "../decide/state-decider.ts";
import { replicasAfter } from "../observe/stages.ts";
import type { ReconcileResult } from "./board.ts";

/** The snapshot after a reconcile, which is the input of a preview. */
export function snapshotAfter({ snapshot, decision, stage }: ReconcileResult, now: number): ServiceSnapshot {
  const isDone = stage !== snapshot.stage || decision.action === "stay";
  const action = isDone ? decision.action : "stay";
  return {
    ...snapshot,
    at: new Date(now).toISOString(),
    stage,
    replicas: replicasAfter(snapshot, action),
    path: pathAfter(action, snapshot.path),
    idleSince: action === "wake" ? stage.since : snapshot.idleSince,
  };
}

function pathAfter(action: Action, path: Path): Path {
  if (action === "join") return { ...path, joined: true, provenAt: null };
  return action === "leave" ? { ...path, joined: false, provenAt: null } : path;
}
