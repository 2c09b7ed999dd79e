import type { Plan } from "./answer.ts";
import type { Hold, Obstacle } from "./obstacles.ts";
import { planIgnoring } from "./plan.ts";
import type { PlanSnapshot } from "./snapshot.ts";

/** What a constraint costs: how much lower σ would be without it. */
export interface Price extends Hold {
  readonly sigma: number;
  /** Evictions of the plan without it. */
  readonly evictions: number;
}

/** Each price is a plan of its own. */
const MOST_PRICES = 8;
const WORTH_NAMING = 1e-4;

/** Constraints that people set and can change. What a pod is and what it is doing now has no price. */
const CHANGEABLE: ReadonlySet<Obstacle> = new Set<Obstacle>([
  "Pinned",
  "MoveForbidden",
  "SafeToEvictFalse",
  "DoNotDisrupt",
  "ProtectedLabel",
  "StatefulSet",
  "HostPath",
  "EmptyDir",
  "MinReadySeconds",
  "SeveralDisruptionBudgets",
  "DisruptionBudget",
  "HourlyLimit",
  "NamespaceLimit",
  "MinuteLimit",
  "OwnerInFlight",
  "NodeInFlight",
  "BackOff",
  "LandingTooHot",
]);

/** The price of each constraint that held pods of a plan, by planning again without it; the highest first. */
export function pricesOf(snapshot: PlanSnapshot, { sigma, held }: Plan): readonly Price[] {
  if (sigma === null) return [];
  return held
    .filter(({ code }) => CHANGEABLE.has(code))
    .slice(0, MOST_PRICES)
    .flatMap(({ code, by }) => {
      const without = planIgnoring(snapshot, (hold) => hold.code === code && hold.by === by);
      const price = sigma.predicted - (without.sigma?.predicted ?? sigma.predicted);
      return price < WORTH_NAMING ? [] : [{ code, by, sigma: price, evictions: without.moves.length }];
    })
    .sort((a, b) => b.sigma - a.sigma);
}
