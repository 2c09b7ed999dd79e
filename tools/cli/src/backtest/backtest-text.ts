import type { Replay, Totals } from "@evenkeel/weight-rebalancer/backtest";
import type { Screen } from "../show/screen.ts";

const DAY = 86_400_000;

/** The figures of both rules side by side. */
export function showBacktest(screen: Screen, { policy, original, band }: Replay, span: number): void {
  const row = (name: string, figure: (totals: Totals) => string) => [name, figure(policy), figure(original)];
  const part = (milliseconds: number) => percent(span === 0 ? 0 : milliseconds / span);
  screen.table(
    [{ title: "MEASURE" }, { title: "THIS POLICY", right: true }, { title: "ORIGINAL'S RULE", right: true }],
    [
      row("changes of the weight", ({ changes }) => String(changes)),
      row("changes per day", ({ changes }) => figureText(span === 0 ? 0 : (changes * DAY) / span)),
      row("time with overload of the base", ({ overload }) => part(overload)),
      row("load of the base above its target", ({ excess }) => percent(excess)),
      row("highest load of the base", ({ worst }) => `${figureText(worst)} × target`),
      row(`time outside the band of ±${percent(band)}`, ({ outside }) => part(outside)),
      row("weights", ({ lowest, highest }) => `${lowest} to ${highest}`),
    ],
  );
}

/** At most three digits. */
function figureText(value: number): string {
  return String(Number(value.toPrecision(3)));
}

export function percent(part: number): string {
  return `${figureText(part * 100)} %`;
}
