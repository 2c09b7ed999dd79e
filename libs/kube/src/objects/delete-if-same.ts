import { Conflict, NotFound } from "../errors.ts";
import type { KubeObject } from "./object.ts";
import type { DeleteOptions, Resource } from "./resource.ts";

/**
 * Deletes this very object, by its uid: an object that was created under the same name since is kept. Resolves with
 * whether this call deleted it; false if it was gone already.
 */
export async function deleteIfSame<T extends KubeObject>(
  resource: Pick<Resource<T>, "delete">,
  { metadata: { namespace, name = "", uid = "" } }: T,
  options: Omit<DeleteOptions, "preconditions"> = {},
): Promise<boolean> {
  try {
    await resource.delete({ namespace, name }, { ...options, preconditions: { uid } });
    return true;
  } catch (error) {
    if (error instanceof NotFound || error instanceof Conflict) return false;
    throw error;
  }
}
