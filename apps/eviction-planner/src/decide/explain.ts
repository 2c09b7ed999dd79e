import { type Hold, OBSTACLES } from "./obstacles.ts";

/** Why a pod stays, as a part of a sentence: "its PodDisruptionBudget allows no further disruption (shop/checkout)". */
export function holdSentence({ code, by }: Hold): string {
  return by === null ? OBSTACLES[code] : `${OBSTACLES[code]} (${by})`;
}
