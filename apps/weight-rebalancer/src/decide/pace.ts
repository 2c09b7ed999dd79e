import { elapsedSince } from "./elapsed.ts";
import { isSettling, settlingTime } from "./load.ts";
import type { WeightSnapshot } from "./snapshot.ts";
import { seconds } from "./wording.ts";

/** How far a move may go now. */
export interface Pace {
  readonly weight: number;
  /** What limits the move; null if nothing does. */
  readonly limit: {
    readonly reason: "ScaleInDisabled" | "Settling" | "Cooldown" | "StepLimit";
    readonly why: string;
  } | null;
}

/**
 * How far the weight may move now. An increase never waits for the cooldown of a decrease: too little weight overloads
 * the base, too much only costs money.
 */
export function paced(from: number, to: number, snapshot: WeightSnapshot): Pace {
  const { policy, memory } = snapshot;
  const now = Date.parse(snapshot.at);
  const stay = (reason: "ScaleInDisabled" | "Settling" | "Cooldown", why: string): Pace => ({
    weight: from,
    limit: { reason, why },
  });
  if (from === to) return { weight: to, limit: null };
  if (to < from && policy.disableScaleIn) return stay("ScaleInDisabled", "disableScaleIn is set");
  if (isSettling(snapshot)) return stay("Settling", settlingText(snapshot));

  const [since, cooldown] = to > from ? [memory.raisedAt, policy.cooldownUp] : [memory.changedAt, policy.cooldownDown];
  const elapsed = elapsedSince(since, now);
  if (elapsed < cooldown) {
    const last = to > from ? "increase" : "change";
    return stay("Cooldown", `the last ${last} was ${seconds(elapsed)} ago and the cooldown is ${seconds(cooldown)}`);
  }

  const step = to > from ? policy.maxStepUp : policy.maxStepDown;
  if (step === null || Math.abs(to - from) <= step) return { weight: to, limit: null };
  const why = `one change moves the weight by at most ${step}`;
  return { weight: to > from ? from + step : from - step, limit: { reason: "StepLimit", why } };
}

/** Why no change starts until the last one has reached all clients. */
export function settlingText(snapshot: WeightSnapshot): string {
  const elapsed = elapsedSince(snapshot.memory.changedAt, Date.parse(snapshot.at));
  const settling = settlingTime(snapshot);
  if (elapsed >= settling) return "the last change is not in effect everywhere yet";
  return `the last change was ${seconds(elapsed)} ago and takes ${seconds(settling)} to reach all clients`;
}
