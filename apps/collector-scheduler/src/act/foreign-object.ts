import { controllerOf, isOwnedBy, type KubeObject, kubeErrors, type Resource, type WriteOptions } from "@evenkeel/kube";

/** An object with a name of ours that has another owner. */
export interface ForeignObject {
  /** Kind and name, as `ConfigMap default/sample-collector`. */
  readonly object: string;
  /** What owns it, as far as it says. */
  readonly owner: string;
}

/**
 * Whether an object that exists is not ours to change. It is ours if `wanted` has the same controller. Without a
 * controller it is if it has all labels of `wanted`: so has what the original made, and what stayed when an owner was
 * deleted with `--cascade=orphan`.
 */
export function foreignObject(existing: KubeObject, wanted: KubeObject, owner: KubeObject): ForeignObject | undefined {
  if (isOwnedBy(existing, owner)) return undefined;
  const { kind = "object", metadata } = wanted;
  const object = `${kind} ${metadata.namespace ?? ""}/${metadata.name ?? ""}`;
  const controller = controllerOf(existing);
  if (controller !== undefined) return { object, owner: `${controller.kind} ${controller.name}` };
  const labels = existing.metadata.labels ?? {};
  const isLabelled = Object.entries(metadata.labels ?? {}).every(([name, value]) => labels[name] === value);
  return isLabelled ? undefined : { object, owner: "an unknown owner" };
}

/**
 * The object that the API server has; undefined if there is none. It is asked by a patch that changes nothing, which
 * needs no right but that of `apply`: this service may not read Secrets, ServiceAccounts and ConfigMaps.
 */
export async function existingObject<T extends KubeObject>(
  resource: Pick<Resource<T>, "patch">,
  { metadata: { namespace, name = "" } }: T,
  options: WriteOptions,
): Promise<T | undefined> {
  const named = { name, ...(namespace !== undefined && { namespace }) };
  try {
    return await resource.patch(named, { type: "merge", body: {} }, { ...options, dryRun: true });
  } catch (error) {
    if (error instanceof kubeErrors.NotFound) return undefined;
    throw error;
  }
}
