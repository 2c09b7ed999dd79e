import { writeFile } from "node:fs/promises";
import type { Metrics } from "@evenkeel/metrics";
import type { DecisionOf } from "@evenkeel/runtime";
import type { trimDecider } from "../decide/trim.ts";
import type { metrics } from "../metrics.ts";

/** Brings the tank to the level that a decision names. Repeating the call does no harm. */
export async function pump(
  file: string,
  { action, before, after, dryRun }: DecisionOf<typeof trimDecider>,
  { pumped }: Metrics<typeof metrics>,
): Promise<void> {
  if (action === "hold" || dryRun || before === null || after === null) return;
  await writeFile(file, `${after}\n`);
  pumped.inc({ direction: action === "fill" ? "in" : "out" }, Math.abs(after - before));
}
