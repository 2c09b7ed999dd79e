import type { KubeObject } from "./object.ts";

/** The annotation that, set to "true" on an object, stops a service from acting on it. */
export const PAUSED = "evenkeel.io/paused";

export function isPaused({ metadata }: KubeObject): boolean {
  return metadata.annotations?.[PAUSED] === "true";
}
