import type { ObjectMeta } from "./object.ts";

/** The annotation that, set to "true" on an object, stops a service from acting on it. */
export const PAUSED = "evenkeel.io/paused";

export function isPaused({ metadata }: { readonly metadata: Pick<ObjectMeta, "annotations"> }): boolean {
  return metadata.annotations?.[PAUSED] === "true";
}
