import { type KubeClient, kubeErrors } from "@evenkeel/kube";
import { CollectedObjects } from "./collected-objects.ts";
import type { ObservedKind } from "./cluster-objects.ts";

/** Called after each page: the kind that is being read, and how many objects of it are there. */
export type ListProgress = (kind: ObservedKind, count: number) => void;

/** Reads everything that a plan depends on with paged LISTs. Needs `list` on each kind and writes nothing. */
export async function listCluster(
  kube: Pick<KubeClient, "resource" | "serves">,
  { signal, onProgress = () => undefined }: { readonly signal: AbortSignal; readonly onProgress?: ListProgress },
): Promise<CollectedObjects> {
  const collected = new CollectedObjects();
  for (const [name, { type, isOptional }] of Object.entries(collected.types)) {
    const kind = name as ObservedKind;
    try {
      for await (const { items } of kube.resource(type).pages({ signal })) {
        for (const object of items) collected.add(object);
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
