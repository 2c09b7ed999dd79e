import { type KubeClient, kubeErrors, TimeSlice } from "@evenkeel/kube";
import { systemClock } from "@evenkeel/runtime";
import { CollectedObjects } from "./collected-objects.ts";
import type { ObservedKind } from "./cluster-objects.ts";

/** Called after each page: the kind that is being read, and how many objects of it are there. */
export type ListProgress = (kind: ObservedKind, count: number) => void;

/** Objects of a page. A page of pods is read at once, and while it is, nothing else runs. */
const PAGE = 250;
/** Milliseconds of work after which other work of the event loop has its turn. */
const SLICE = 20;

/** Reads everything that a plan depends on with paged LISTs. Needs `list` on each kind and writes nothing. */
export async function listCluster(
  kube: Pick<KubeClient, "resource" | "serves">,
  { signal, onProgress = () => undefined }: { readonly signal: AbortSignal; readonly onProgress?: ListProgress },
): Promise<CollectedObjects> {
  const collected = new CollectedObjects();
  const slice = new TimeSlice(systemClock, SLICE);
  for (const [name, { type, isOptional }] of Object.entries(collected.types)) {
    const kind = name as ObservedKind;
    try {
      for await (const { items } of kube.resource(type).pages({ limit: PAGE, signal })) {
        for (const object of items) {
          collected.add(object);
          if (slice.spent) await slice.rest();
        }
        onProgress(kind, collected.count(kind));
      }
    } catch (error) {
      // The API server refuses a user without the right before it looks whether the kind is there.
      const mayBeAbsent = error instanceof kubeErrors.NotFound || error instanceof kubeErrors.Forbidden;
      if (!isOptional || !mayBeAbsent || (await kube.serves(type, { signal }))) throw error;
    }
  }
  return collected;
}
