import { Badge, type Tone } from "./badge.tsx";
import { Card } from "./card.tsx";
import { Empty } from "./states.tsx";
import { Time } from "./time.tsx";

/** A condition of an object's status, in JSON. */
export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  readonly since?: string;
}

export interface ConditionsProps {
  readonly conditions: readonly Condition[];
  /** Types that are neither good nor bad news, whatever their status. */
  readonly neutral?: readonly string[];
}

/** Conditions that are good news when they are False. */
const BETTER_FALSE: readonly string[] = ["Blocked", "DeschedulerRuns", "Paused", "Throttled"];

function toneOf({ type, status }: Condition, neutral: readonly string[]): Tone {
  if (status === "Unknown" || neutral.includes(type)) return "quiet";
  const good = BETTER_FALSE.includes(type) ? "False" : "True";
  if (status === good) return "ok";
  return BETTER_FALSE.includes(type) ? "warn" : "bad";
}

/** The conditions of an object's status. */
export function Conditions({ conditions, neutral = [] }: ConditionsProps) {
  return (
    <Card title="Conditions">
      {conditions.length === 0 ? (
        <Empty title="No conditions yet">The first reconcile writes them.</Empty>
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
                  <Badge tone={toneOf(condition, neutral)}>{condition.status}</Badge>
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
