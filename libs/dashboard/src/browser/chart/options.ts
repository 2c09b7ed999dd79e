import type uPlot from "uplot";
import { numberText } from "../words/value-text.ts";
import type { Colours, Ink } from "./colours.ts";
import { timeLabels } from "./time-axis.ts";

export interface ChartSeries {
  readonly label: string;
  readonly ink: Ink;
  /** `step` for values that hold until the next, `line` for those that are samples. */
  readonly shape: "line" | "step";
  readonly dashed?: boolean;
  /** Fills what is below. */
  readonly filled?: boolean;
  /** One per time; null is unknown, and leaves a gap. */
  readonly values: readonly (number | null)[];
}

const FONT = "12px system-ui, sans-serif";

export interface OptionsInput {
  readonly width: number;
  readonly height: number;
  readonly colours: Colours;
  readonly series: readonly ChartSeries[];
  /** Charts with the same key move their cursors together. */
  readonly together: string | undefined;
  readonly stepped: uPlot.Series.PathBuilder | undefined;
  readonly hooks: uPlot.Hooks.Arrays;
}

/** The style of a chart: quiet axes, one grid, no legend. */
export function chartOptions(input: OptionsInput): uPlot.Options {
  const { width, height, colours, series, together, stepped, hooks } = input;
  const axis = {
    stroke: colours.quiet,
    font: FONT,
    grid: { stroke: colours.line, width: 1 },
    ticks: { show: false },
  };
  return {
    width,
    height,
    padding: [12, 20, 0, 0],
    legend: { show: false },
    cursor: {
      y: false,
      drag: { x: false, y: false },
      points: { size: 7 },
      ...(together !== undefined && { sync: { key: together, setSeries: false } }),
    },
    scales: { x: { time: true }, y: { range: (_chart, least, most) => yRange(least, most) } },
    axes: [
      {
        ...axis,
        grid: { show: false },
        space: 60,
        size: 24,
        gap: 6,
        values: (_chart, ticks, _axis, _space, distance) => [...timeLabels(ticks, distance)],
      },
      { ...axis, size: 48, gap: 8, space: 36, values: (_chart, ticks) => ticks.map((tick) => numberText(tick)) },
    ],
    series: [
      {},
      ...series.map(({ label, ink, shape, dashed, filled }) => ({
        label,
        stroke: colours[ink],
        width: dashed ? 1.5 : 2,
        points: { show: false },
        ...(dashed && { dash: [5, 4] }),
        ...(filled && { fill: translucent(colours[ink]) }),
        ...(shape === "step" && stepped && { paths: stepped }),
      })),
    ],
    hooks,
  };
}

/** From zero, with room above; a chart without values still has a scale. */
function yRange(least: number | null, most: number | null): [number, number] {
  const low = Math.min(0, least ?? 0);
  const high = Math.max(most ?? 0, low + 1);
  return [low, high + (high - low) * 0.12];
}

function translucent(colour: string): string {
  return colour.replace(/^rgb\((.*)\)$/, "rgba($1, 0.12)");
}
