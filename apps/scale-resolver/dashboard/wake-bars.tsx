import { Card, Empty, numberText, Time } from "@evenkeel/dashboard/browser";
import { lengthText, milliseconds, type WakePhases } from "./service.ts";

const SHOWN = 6;
const PHASES = [
  { name: "scale", label: "Scale call" },
  { name: "start", label: "Pod start" },
  { name: "connect", label: "First answer" },
] as const;

/** How long each phase of the last wakes took. */
export function WakeBars({ wakes }: { readonly wakes: readonly WakePhases[] }) {
  const last = wakes.slice(-SHOWN).toReversed();
  const longest = Math.max(1, ...last.map(totalOf));
  return (
    <Card title="Last wakes">
      {last.length === 0 ? (
        <Empty title="No wake yet">The first request to a service at zero wakes it.</Empty>
      ) : (
        <>
          <ol class="wakes">
            {last.map((wake) => (
              <Wake key={wake.startedAt} {...{ wake, longest }} />
            ))}
          </ol>
          <ul class="legend">
            {PHASES.map(({ name, label }) => (
              <li key={name}>
                <span class={`square phase-${name}`} aria-hidden="true" /> {label}
              </li>
            ))}
          </ul>
        </>
      )}
    </Card>
  );
}

function Wake({ wake, longest }: { readonly wake: WakePhases; readonly longest: number }) {
  const phases = PHASES.map(({ name, label }) => ({ name, label, length: milliseconds(wake[name]) }));
  const isOver = phases.every(({ length }) => length !== null);
  const words = phases.map(
    ({ label, length }) => `${label.toLowerCase()} ${length === null ? "not yet" : lengthText(length)}`,
  );
  const held = Number(wake.held);
  return (
    <li>
      <span class="wake-when">
        <Time at={wake.startedAt} />
        <span class="quiet">
          {numberText(held)} {held === 1 ? "request" : "requests"}
        </span>
      </span>
      <span
        class={`wake-track ${isOver ? "" : "under-way"}`}
        role="img"
        aria-label={words.join(", ")}
        title={words.join("\n")}
      >
        {phases.map(({ name, length }) =>
          length === null ? undefined : (
            <span key={name} class={`wake-phase phase-${name}`} style={{ width: `${(length / longest) * 100}%` }} />
          ),
        )}
      </span>
      <span class="wake-total number">{isOver ? lengthText(totalOf(wake)) : "in progress"}</span>
    </li>
  );
}

function totalOf(wake: WakePhases): number {
  return PHASES.reduce((sum, { name }) => sum + (milliseconds(wake[name]) ?? 0), 0);
}
