import { type Api, Badge, Card, count, faultText, numberText, shareText } from "@evenkeel/dashboard/browser";
import { useEffect, useState } from "preact/hooks";
import type { Point, Weight } from "./weight.ts";

interface Preview {
  readonly before?: string;
  readonly after: string;
  readonly reason: string;
  readonly message: string;
}

type Answer =
  | { readonly phase: "asking" }
  | { readonly phase: "told"; readonly preview: Preview }
  | { readonly phase: "failed"; readonly fault: string };

/** Milliseconds without a move of the slider before a request. */
const REST = 120;
const STEPS = 200;

export interface WhatIfProps {
  readonly api: Api;
  readonly weight: Weight;
  readonly points: readonly Point[];
}

/** What the service would decide now with another value of the metric. Nothing is written. */
export function WhatIf({ api, weight, points }: WhatIfProps) {
  const { rebalance, metric, targetValue } = weight;
  const most = roundUp(Math.max(2 * targetValue, 1.5 * (metric ?? 0), 1.2 * greatest(points)));
  const [chosen, setChosen] = useState<number>();
  const value = chosen ?? metric ?? targetValue;
  const answer = usePreview(api, weight, value);
  return (
    <Card
      title="What if"
      aside={
        chosen !== undefined && (
          <button type="button" class="plain small" onClick={() => setChosen(undefined)}>
            Reset
          </button>
        )
      }
    >
      <label class="what-if">
        <span>
          If the metric were <output>{numberText(value)}</output>
          {chosen === undefined && metric !== undefined && <span class="quiet"> (current value)</span>}
        </span>
        <input
          type="range"
          min={0}
          max={most}
          step={most / STEPS}
          value={Math.min(value, most)}
          aria-label={`Metric of ${rebalance.name} to assume`}
          onInput={(event) => setChosen(Number(event.currentTarget.value))}
        />
        <span class="what-if-scale quiet">
          <span>0</span>
          <span class="what-if-target" style={{ left: `${Math.min(82, Math.max(18, (targetValue / most) * 100))}%` }}>
            target {numberText(targetValue)}
          </span>
          <span>{numberText(most)}</span>
        </span>
      </label>
      <div class="what-if-answer" aria-live="polite">
        <Told answer={answer} base={count(weight.baseValue) ?? 0} />
      </div>
    </Card>
  );
}

function Told({ answer, base }: { readonly answer: Answer; readonly base: number }) {
  if (answer.phase === "asking") return <p class="quiet">Loading…</p>;
  if (answer.phase === "failed") return <p class="form-fault">{answer.fault}</p>;
  const { before, reason, message } = answer.preview;
  const after = Number(answer.preview.after);
  return (
    <>
      <p class="what-if-weight">
        <span class="quiet">{numberText(count(before))} →</span> {numberText(after)}
        {base + after > 0 && <span class="unit">{shareText(after / (after + base))} of the traffic</span>}
      </p>
      <p>
        <Badge tone="accent">{reason}</Badge> {message}
      </p>
    </>
  );
}

/** The last answer stays until the next one arrives. */
function usePreview(api: Api, { rebalance, desired, decidedAt }: Weight, metric: number): Answer {
  const [answer, setAnswer] = useState<Answer>({ phase: "asking" });
  const { namespace, name } = rebalance;
  useEffect(() => {
    const unmounted = new AbortController();
    const ask = async () => {
      try {
        const preview = await api.ask<Preview>(
          "Weights/Preview",
          { rebalance: { namespace, name }, metric },
          unmounted.signal,
        );
        setAnswer({ phase: "told", preview });
      } catch (error) {
        if (!unmounted.signal.aborted) setAnswer({ phase: "failed", fault: faultText(error) });
      }
    };
    const timer = setTimeout(() => void ask(), REST);
    return () => {
      clearTimeout(timer);
      unmounted.abort();
    };
  }, [api, namespace, name, desired, decidedAt, metric]);
  return answer;
}

function greatest(points: readonly Point[]): number {
  return Math.max(0, ...points.map(({ metric }) => metric ?? 0));
}

/** The next multiple of a round number, so that the end of the scale is easy to read and rarely moves. */
function roundUp(value: number): number {
  if (!(value > 0)) return 1;
  const unit = 10 ** (Math.floor(Math.log10(value)) - 1) * 5;
  return Math.ceil(value / unit) * unit;
}
