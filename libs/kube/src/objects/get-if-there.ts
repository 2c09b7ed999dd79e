import { NotFound } from "../errors.ts";
import type { KubeObject, ObjectName } from "./object.ts";
import type { CallOptions, Resource } from "./resource.ts";

/** The object, or undefined if it is not found. */
export async function getIfThere<T extends KubeObject>(
  resource: Pick<Resource<T>, "get">,
  name: ObjectName,
  options: CallOptions,
): Promise<T | undefined> {
  try {
    return await resource.get(name, options);
  } catch (error) {
    if (error instanceof NotFound) return undefined;
    throw error;
  }
}
