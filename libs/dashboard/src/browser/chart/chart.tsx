import { useEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { Time } from "../parts/time.tsx";
import { exactTime } from "../words/relative-time.ts";
import { numberText } from "../words/value-text.ts";
import { type Colours, readColours } from "./colours.ts";
import { type ChartSeries, chartOptions } from "./options.ts";

/** Something that happened, at a point of the chart. */
export interface Marker {
  readonly id: string;
  /** Seconds since the epoch. */
  readonly at: number;
  readonly value: number;
  readonly title: string;
  readonly text: string;
}

export interface ChartProps {
  /** What the chart shows, for screen readers. */
  readonly label: string;
  /** Seconds since the epoch, ascending. */
  readonly times: readonly number[];
  readonly series: readonly ChartSeries[];
  readonly markers?: readonly Marker[];
  /** Charts with the same key move their cursors together. */
  readonly together?: string;
  readonly height?: number;
}

/** How near the pointer must be to a marker, in pixels. */
const REACH = 14;

interface Pointed {
  readonly left: number;
  readonly top: number;
  readonly marker?: Marker | undefined;
  readonly index: number;
}

/**
 * Lines over time. Pointing shows the values, or the marker that is near; with the keyboard, the arrow keys go from
 * marker to marker.
 */
export function Chart({ label, times, series, markers = [], together, height = 200 }: ChartProps) {
  const root = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot>(undefined);
  const colours = useRef<Colours>(undefined);
  const shown = useRef(markers);
  shown.current = markers;
  const [pointed, setPointed] = useState<Pointed>();
  const [theme, setTheme] = useState(0);
  const looks = JSON.stringify(
    series.map(({ label: name, ink, shape, dashed, filled }) => [name, ink, shape, dashed, filled]),
  );

  useEffect(() => {
    const changed = () => setTheme((before) => before + 1);
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    addEventListener("themechange", changed);
    scheme.addEventListener("change", changed);
    return () => {
      removeEventListener("themechange", changed);
      scheme.removeEventListener("change", changed);
    };
  }, []);

  useEffect(() => {
    const element = root.current;
    if (!element) return;
    const palette = readColours(element);
    colours.current = palette;
    const options = chartOptions({
      width: element.clientWidth,
      height,
      colours: palette,
      series,
      together,
      stepped: uPlot.paths.stepped?.({ align: 1 }),
      hooks: {
        draw: [(drawn) => drawMarkers(drawn, shown.current, palette)],
        setCursor: [(moved) => setPointed(pointedAt(moved, shown.current))],
      },
    });
    const made = new uPlot(options, aligned(times, series), element);
    chart.current = made;
    const observer = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      made.destroy();
    };
    // Data is set below, without a new chart.
  }, [looks, theme, height, together]);

  useEffect(() => {
    chart.current?.setData(aligned(times, series));
  }, [times, series, markers]);

  const step = (event: KeyboardEvent) => {
    const direction = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const drawn = chart.current;
    if (direction === undefined || !drawn || markers.length === 0) return;
    event.preventDefault();
    const at = markers.findIndex(({ id }) => id === pointed?.marker?.id);
    const next = at < 0 ? (direction > 0 ? 0 : markers.length - 1) : at + direction;
    const marker = markers[Math.max(0, Math.min(markers.length - 1, next))];
    if (marker) drawn.setCursor({ left: drawn.valToPos(marker.at, "x"), top: drawn.valToPos(marker.value, "y") });
  };

  return (
    <div
      class="chart"
      role="img"
      aria-label={label}
      tabIndex={markers.length > 0 ? 0 : -1}
      onKeyDown={step}
      onBlur={() => chart.current?.setCursor({ left: -10, top: -10 })}
    >
      <div ref={root} class="chart-canvas" />
      {pointed && <Tip {...{ pointed, times, series }} width={root.current?.clientWidth ?? 0} />}
    </div>
  );
}

interface TipProps {
  readonly pointed: Pointed;
  readonly times: readonly number[];
  readonly series: readonly ChartSeries[];
  readonly width: number;
}

function Tip({ pointed: { left, top, marker, index }, times, series, width }: TipProps) {
  const at = (marker?.at ?? times[index] ?? 0) * 1000;
  const aside = left > width / 2 ? "to-left" : "";
  return (
    <div class={`tip ${aside}`} role="status" style={{ left: `${left}px`, top: `${Math.max(0, top)}px` }}>
      {marker && <strong>{marker.title}</strong>}
      {marker && <p>{marker.text}</p>}
      {!marker &&
        series.map(({ label, ink, values }) => (
          <p key={label} class="tip-value">
            <span class={`swatch ${ink}`} /> {label} <b>{numberText(values[index])}</b>
          </p>
        ))}
      <p class="quiet">
        {exactTime(at)} · <Time at={at} />
      </p>
    </div>
  );
}

function aligned(times: readonly number[], series: readonly ChartSeries[]): uPlot.AlignedData {
  return [[...times], ...series.map(({ values }) => [...values])];
}

function pointedAt(chart: uPlot, markers: readonly Marker[]): Pointed | undefined {
  const { left = -1, top = -1, idx } = chart.cursor;
  if (left < 0 || idx === null || idx === undefined) return undefined;
  let marker: Marker | undefined;
  let nearest = REACH;
  for (const candidate of markers) {
    const distance = Math.abs(chart.valToPos(candidate.at, "x") - left);
    if (distance < nearest) [marker, nearest] = [candidate, distance];
  }
  // In the container's own coordinates; the plot is a few pixels inside.
  const inside = { left: chart.bbox.left / devicePixelRatio, top: chart.bbox.top / devicePixelRatio };
  const x = marker ? chart.valToPos(marker.at, "x") : left;
  const y = marker ? chart.valToPos(marker.value, "y") : Math.max(0, top);
  return { left: x + inside.left, top: y + inside.top, marker, index: idx };
}

function drawMarkers(chart: uPlot, markers: readonly Marker[], colours: Colours): void {
  const { ctx, bbox } = chart;
  const scale = devicePixelRatio;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left - 6 * scale, bbox.top - 6 * scale, bbox.width + 12 * scale, bbox.height + 12 * scale);
  ctx.clip();
  // A dashed series before may have left its pattern.
  ctx.setLineDash([]);
  for (const { at, value } of markers) {
    const x = chart.valToPos(at, "x", true);
    const y = chart.valToPos(value, "y", true);
    ctx.beginPath();
    ctx.arc(x, y, 4.5 * scale, 0, 2 * Math.PI);
    ctx.fillStyle = colours.surface;
    ctx.fill();
    ctx.lineWidth = 2 * scale;
    ctx.strokeStyle = colours.accent;
    ctx.stroke();
  }
  ctx.restore();
}
