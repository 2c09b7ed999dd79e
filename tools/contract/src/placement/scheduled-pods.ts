import { type KubeClient, type Pod, pods, type WatchEvent } from "@evenkeel/kube";

/** What kube-scheduler did with a pod. */
export interface ScheduledPod {
  /** As the API server stored it, with its defaults. */
  readonly pod: Pod;
  /** Null if it found no node. */
  readonly node: string | null;
}

/**
 * Creates pods one after the other, each after kube-scheduler has decided on the one before, so that what it knew each
 * time is certain. A pod without a node is deleted again.
 */
export async function scheduleOneByOne(
  kube: KubeClient,
  manifests: readonly object[],
): Promise<readonly ScheduledPod[]> {
  const watching = new AbortController();
  const resource = kube.resource(pods);
  const { resourceVersion } = await resource.list({ limit: 1 });
  const watch = resource.watch({ resourceVersion, signal: watching.signal });
  const events = watch[Symbol.asyncIterator]() as AsyncIterator<WatchEvent<Pod>, undefined>;
  const scheduled: ScheduledPod[] = [];
  try {
    for (const manifest of manifests) {
      const created = await resource.create(manifest as Pod);
      const decided = await nextDecision(events, created);
      scheduled.push({ pod: created, node: decided.spec?.nodeName ?? null });
      if (decided.spec?.nodeName !== undefined) continue;
      const { namespace = "", name = "" } = created.metadata;
      await resource.delete({ namespace, name }, { gracePeriodSeconds: 0 });
    }
  } finally {
    watching.abort();
  }
  return scheduled;
}

/** The pod once it has a node, or once it is said that none takes it. */
async function nextDecision(events: AsyncIterator<WatchEvent<Pod>, undefined>, { metadata }: Pod): Promise<Pod> {
  for (;;) {
    const { value } = await events.next();
    if (value === undefined) throw new Error(`the watch ended before pod ${metadata.name} was scheduled`);
    if (value.type === "BOOKMARK" || value.object.metadata.uid !== metadata.uid) continue;
    const { spec, status } = value.object;
    const refused = status?.conditions?.some(
      ({ type, reason }) => type === "PodScheduled" && reason === "Unschedulable",
    );
    if (spec?.nodeName !== undefined || refused === true) return value.object;
  }
}
