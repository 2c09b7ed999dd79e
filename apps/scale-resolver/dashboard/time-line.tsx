import { Card, Empty, exactTime, spanText, useNow } from "@evenkeel/dashboard/browser";
import { useState } from "preact/hooks";
import { MEANINGS, type StateChange, type StateWord, stateWord } from "./service.ts";

/** A stretch of time in one state, in milliseconds since 1970. */
interface Band {
  readonly state: StateWord;
  readonly from: number;
  readonly to: number;
  readonly reason: string;
  readonly message: string;
  readonly isPresent: boolean;
}

const MINUTE = 60_000;
const SPANS = [
  { label: "15 min", length: 15 * MINUTE },
  { label: "1 h", length: 60 * MINUTE },
  { label: "6 h", length: 360 * MINUTE },
  { label: "All", length: Infinity },
] as const;
const LEGEND: readonly StateWord[] = ["Serve", "Guard", "Zero", "Wake"];

/** The past states of a service, as bands with the reason of each. */
export function TimeLine({ changes, name }: { readonly changes: readonly StateChange[]; readonly name: string }) {
  const now = useNow(1000);
  const [span, setSpan] = useState(60 * MINUTE);
  const first = Date.parse(changes[0]?.at ?? "");
  const from = Math.max(first, now - span);
  const bands = bandsOf(changes, now).filter(({ to }) => to > from);
  return (
    <Card
      title="States"
      aside={
        <div class="spans" role="group" aria-label="Time shown">
          {SPANS.map(({ label, length }) => (
            <button
              key={label}
              type="button"
              class="small"
              aria-pressed={span === length}
              onClick={() => setSpan(length)}
            >
              {label}
            </button>
          ))}
        </div>
      }
    >
      {changes.length === 0 ? (
        <Empty title="No states yet">The timeline starts with the first reconcile of the leader.</Empty>
      ) : (
        <>
          <Bands {...{ bands, from, name }} to={Math.max(now, from + 1000)} />
          <ul class="legend">
            {LEGEND.map((state) => (
              <li key={state} title={MEANINGS[state]}>
                <span class={`square ${state}`} aria-hidden="true" /> {state}
              </li>
            ))}
          </ul>
        </>
      )}
    </Card>
  );
}

interface BandsProps {
  readonly bands: readonly Band[];
  readonly from: number;
  readonly to: number;
  readonly name: string;
}

function Bands({ bands, from, to, name }: BandsProps) {
  const [chosen, setChosen] = useState<number>();
  const place = (at: number) => ((Math.max(at, from) - from) / (to - from)) * 100;
  // The start of a band identifies it: new ones are added at the end, old ones are removed at the front.
  const index = bands.findIndex(({ from: began }) => began === chosen);
  const band = bands[index];
  const step = (event: KeyboardEvent) => {
    const direction = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (event.key === "Escape") setChosen(undefined);
    if (direction === undefined) return;
    event.preventDefault();
    const next = index < 0 ? (direction > 0 ? 0 : bands.length - 1) : index + direction;
    setChosen(bands[Math.max(0, Math.min(bands.length - 1, next))]?.from);
  };
  const last = bands.at(-1);
  return (
    <div
      class="time-line"
      role="img"
      aria-label={`States of ${name} in ${spanText(to - from)}, ${bands.length - 1} changes, now ${last?.state ?? "unknown"}; the arrow keys select the next one`}
      tabIndex={0}
      onKeyDown={step}
      onBlur={() => setChosen(undefined)}
      onMouseLeave={() => setChosen(undefined)}
    >
      <div class="bands">
        {bands.map((one) => (
          <span
            key={one.from}
            class={`band ${one.state} ${one === band ? "chosen" : ""}`}
            style={{ left: `${place(one.from)}%`, width: `${place(one.to) - place(one.from)}%` }}
            onMouseEnter={() => setChosen(one.from)}
          />
        ))}
      </div>
      <div class="ticks" aria-hidden="true">
        {[0, 1 / 3, 2 / 3].map((part) => (
          <span key={part} style={{ left: `${part * 100}%` }}>
            {clockText(from + part * (to - from), to - from)}
          </span>
        ))}
        <span class="tick-now">now</span>
      </div>
      {band && <BandTip {...{ band }} left={(place(band.from) + place(band.to)) / 2} />}
    </div>
  );
}

function BandTip({ band, left }: { readonly band: Band; readonly left: number }) {
  const { state, from, to, reason, message, isPresent } = band;
  const side = left > 66 ? "at-end" : left < 34 ? "at-start" : "";
  return (
    <div class={`tip band-tip ${side}`} role="status" style={{ left: `${left}%` }}>
      <strong>
        {state} · {reason || "found so"}
      </strong>
      <p>{message || MEANINGS[state]}</p>
      <p class="quiet">
        {exactTime(from)}, {isPresent ? "for " : ""}
        {spanText(to - from)}
        {isPresent ? " so far" : ""}
      </p>
    </div>
  );
}

function bandsOf(changes: readonly StateChange[], now: number): readonly Band[] {
  return changes.map(({ at, state, reason, message }, index) => {
    const next = changes[index + 1];
    const from = Date.parse(at);
    return {
      state: stateWord(state),
      from,
      to: Math.max(from, next ? Date.parse(next.at) : now),
      reason,
      message,
      isPresent: !next,
    };
  });
}

/** The time of day, to the second where little is shown, with the day where much is. */
function clockText(at: number, span: number): string {
  return new Date(at).toLocaleString(undefined, {
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
    ...(span < 5 * MINUTE && { second: "2-digit" }),
    ...(span > 24 * 60 * MINUTE && { month: "short", day: "numeric" }),
  });
}
