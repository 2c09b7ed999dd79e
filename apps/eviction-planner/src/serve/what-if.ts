import type { evictionsV1 } from "@evenkeel/rpc";
import type { Answer } from "../observe/worker/answer-plan.ts";
import { moveView } from "./plan-view.ts";

/** What a plan with other limits would come to. */
export function whatIfAnswer(
  { plan, prices }: Answer,
  usageFault: string | null,
): evictionsV1.DeepPartial<evictionsV1.WhatIfResponse> {
  const { outcome, sigma, moves, curve, faults } = plan;
  if (sigma === null) {
    const fault = faults.map(({ field, message }) => `${field}: ${message}`).join("; ");
    const message = fault || usageFault || "The load of fewer than two nodes is known";
    return { outcome, message, moves: [], curve: [], prices: [] };
  }
  const { before, predicted, bound } = sigma;
  const evictions = moves.length === 1 ? "1 eviction" : `${moves.length} evictions`;
  return {
    outcome,
    message: `${evictions} would bring σ from ${text(before)} to ${text(predicted)}; the lower bound for as many evictions is ${text(bound)}`,
    ...{ sigma: before, predicted, lowerBound: bound },
    moves: moves.map(moveView),
    curve: curve.predicted.map((value, evictionCount) => ({
      ...{ evictions: evictionCount, predicted: value, lowerBound: curve.bound[evictionCount] ?? value },
    })),
    prices: prices.map(({ code, by, sigma: price, evictions: without }) => ({
      ...{ reason: code, by: by ?? "", sigma: price, evictions: without },
    })),
  };
}

function text(sigma: number): string {
  return sigma.toFixed(4);
}
