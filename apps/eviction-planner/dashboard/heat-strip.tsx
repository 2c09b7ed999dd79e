import { Card } from "@evenkeel/dashboard/browser";
import { useEffect, useRef } from "preact/hooks";
import type { HeatStrip as Heat, Plan } from "./plan.ts";

const ROW_HEIGHT = 18;
const GREY = "hsl(0 0% 60%)";

/** Every node as one column, the hottest first: one row each for now, the plan, and the last wave. Thousands fit. */
export function HeatStrip({ plan: { heat, nodeCount, frozenNodes } }: { readonly plan: Plan }) {
  const aside = frozenNodes > 0 ? `${frozenNodes} of ${nodeCount} unknown` : `${nodeCount} nodes`;
  return (
    <Card title="Heat of all nodes" aside={aside}>
      <dl class="heat-strip">
        {rowsOf(heat).map(({ label, levels }) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>
              <HeatRow label={label} levels={levels} />
            </dd>
          </div>
        ))}
      </dl>
    </Card>
  );
}

interface Row {
  readonly label: string;
  readonly levels: readonly number[];
}

function rowsOf({ now, predicted, before, foretold }: Heat): readonly Row[] {
  const rows: readonly Row[] = [
    { label: "before the last wave", levels: before },
    { label: "as foretold then", levels: foretold },
    { label: "now", levels: now },
    { label: "after the plan", levels: predicted },
  ];
  return rows.filter(({ levels }) => levels.length > 0);
}

function HeatRow({ label, levels }: Row) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const context = canvas.current?.getContext("2d");
    if (!context) return;
    context.clearRect(0, 0, levels.length, 1);
    levels.forEach((level, column) => {
      context.fillStyle = level < 0 ? GREY : colourOf(level / 1000);
      context.fillRect(column, 0, 1, 1);
    });
  }, [levels]);
  const known = levels.filter((level) => level >= 0);
  const range =
    known.length === 0
      ? "unknown"
      : `${Math.round(Math.min(...known) / 10)} to ${Math.round(Math.max(...known) / 10)} %`;
  return (
    <canvas
      ref={canvas}
      class="heat-row"
      role="img"
      aria-label={`${label}: ${range}`}
      title={`${label}: ${range}`}
      width={Math.max(1, levels.length)}
      height={1}
      style={{ height: `${ROW_HEIGHT}px` }}
    />
  );
}

/** Blue at empty, red at full. */
function colourOf(level: number): string {
  return `hsl(${Math.round(220 - 220 * Math.min(1, level))} 70% 50%)`;
}
