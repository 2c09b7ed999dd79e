import { type CallOptions, deployments, type KubeClient } from "@evenkeel/kube";
import type { Clock } from "@evenkeel/runtime";
import type { Plan } from "../decide/answer.ts";
import type { PlanSnapshot } from "../decide/snapshot.ts";

/** What `kubectl rollout restart` sets. */
const RESTARTED_AT = "kubectl.kubernetes.io/restartedAt";

/**
 * Restarts the rollout of the Deployment that owns the pod of a move. Its strategy makes the new pod ready before the
 * old one ends. The patch names the uid, so that another Deployment of the same name is left alone.
 */
export async function restartRollout(
  kube: Pick<KubeClient, "resource">,
  { pod, owner }: Plan["moves"][number],
  { cluster }: PlanSnapshot,
  clock: Clock,
  call: CallOptions,
): Promise<void> {
  const workload = cluster.owners.find(({ uid }) => uid === owner)?.workload;
  const annotations = { [RESTARTED_AT]: new Date(clock.now()).toISOString() };
  const body = {
    metadata: { uid: workload?.uid ?? "" },
    spec: { template: { metadata: { annotations } } },
  };
  const name = { namespace: pod.namespace, name: workload?.name ?? "" };
  await kube.resource(deployments).patch(name, { type: "merge", body }, call);
}
