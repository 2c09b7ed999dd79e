import { type Labels, matcherOf } from "@evenkeel/placement";
import { type Hold, hold } from "./obstacles.ts";
import type { DisruptionBudgetRow } from "./snapshot.ts";

/** A limit on evictions that several pods share. */
export interface Account {
  readonly hold: Hold;
  left: number;
}

export function account(code: Hold["code"], by: string | null, left: number): Account {
  return { hold: hold(code, by), left };
}

/**
 * The accounts of the PodDisruptionBudgets that match some labels. Pods that are not ready have rules of their own
 * there; they are never moved, so these rules do not matter here.
 */
export function disruptionAccounts(
  budgets: readonly DisruptionBudgetRow[],
  respectsAllowance: boolean,
): (namespace: string, labels: Labels) => readonly Account[] {
  const rows = budgets.map((budget) => {
    const id = `${budget.namespace}/${budget.name}`;
    const code = budget.isCurrent ? "DisruptionBudget" : "DisruptionBudgetStale";
    const left = respectsAllowance ? (budget.isCurrent ? budget.disruptionsAllowed : 0) : Infinity;
    return { namespace: budget.namespace, id, matches: matcherOf(budget.selector), account: account(code, id, left) };
  });
  const byNamespace = Map.groupBy(rows, ({ namespace }) => namespace);
  return (namespace, labels) => {
    const matching = (byNamespace.get(namespace) ?? []).filter(({ matches }) => matches(labels));
    if (matching.length < 2) return matching.map(({ account }) => account);
    const names = matching.map(({ id }) => id).sort();
    return [account("SeveralDisruptionBudgets", names.join(", "), 0)];
  };
}
