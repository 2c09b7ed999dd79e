import { Card } from "@evenkeel/dashboard/browser";
import type { Budget } from "./plan.ts";

const WORDS: Readonly<Record<string, string>> = { MinuteLimit: "per minute", HourlyLimit: "per hour" };

/** What limits evictions by time, and what is left of it. */
export function Budgets({ budgets }: { readonly budgets: readonly Budget[] }) {
  return (
    <Card title="Budgets">
      <table class="budgets">
        <thead>
          <tr>
            <th>Limit</th>
            <th>Set by</th>
            <th class="number">Used</th>
            <th class="number">Left</th>
          </tr>
        </thead>
        <tbody>
          {budgets.map(({ kind, by, limit, used }) => (
            <tr key={`${kind} ${by}`}>
              <td>
                {limit} {WORDS[kind] ?? kind}
              </td>
              <td>{by}</td>
              <td class="number">{used}</td>
              <td class="number">{Math.max(0, limit - used)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Card>
  );
}
