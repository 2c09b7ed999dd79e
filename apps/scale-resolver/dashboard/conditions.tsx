import { Badge, Card, Empty, Time, type Tone } from "@evenkeel/dashboard/browser";
import type { Condition } from "./service.ts";

/** Conditions that are good news when they are False. */
const better = { False: ["Paused", "Throttled"] };

function toneOf({ type, status }: Condition): Tone {
  if (status === "Unknown") return "quiet";
  const good = better.False.includes(type) ? "False" : "True";
  if (status === good) return "ok";
  return better.False.includes(type) ? "warn" : "bad";
}

/** The conditions of the ElastiService's status. */
export function Conditions({ conditions }: { readonly conditions: readonly Condition[] }) {
  return (
    <Card title="Conditions">
      {conditions.length === 0 ? (
        <Empty title="No conditions yet">They are written with the first turn.</Empty>
      ) : (
        <table class="conditions">
          <thead>
            <tr>
              <th scope="col">Condition</th>
              <th scope="col">Status</th>
              <th scope="col">Reason and message</th>
              <th scope="col">Since</th>
            </tr>
          </thead>
          <tbody>
            {conditions.map((condition) => (
              <tr key={condition.type}>
                <td>{condition.type}</td>
                <td>
                  <Badge tone={toneOf(condition)}>{condition.status}</Badge>
                </td>
                <td class="condition-message">
                  <strong>{condition.reason}</strong> <span class="quiet">{condition.message}</span>
                </td>
                <td class="quiet condition-since">{condition.since !== undefined && <Time at={condition.since} />}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Card>
  );
}
