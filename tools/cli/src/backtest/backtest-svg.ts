import type { Replay, ReplayPoint } from "@evenkeel/weight-rebalancer/backtest";

const WIDTH = 960;
const LEFT = 64;
const RIGHT = 24;
/** Columns of the plot: more points than columns are drawn as the lowest and the highest of each column. */
const COLUMNS = WIDTH - LEFT - RIGHT;

interface Panel {
  readonly title: string;
  readonly top: number;
  readonly height: number;
  readonly lines: readonly {
    readonly name: string;
    readonly colour: string;
    readonly value: (point: ReplayPoint) => number | null;
  }[];
}

/** The load and both weights over time, as SVG that reads in light and dark. */
export function backtestSvg(title: string, { points }: Pick<Replay, "points">, targetValue: number): string {
  const [ours, theirs, quiet] = ["#3a93bd", "#c2703d", "#7a8794"];
  const panels: readonly Panel[] = [
    {
      ...{ title: "load of all sites", top: 60, height: 150 },
      lines: [
        { name: "load", colour: quiet, value: ({ total }) => total },
        { name: `target ${targetValue}`, colour: "#b03a48", value: () => targetValue },
      ],
    },
    {
      ...{ title: "weight", top: 260, height: 200 },
      lines: [
        { name: "original's rule", colour: theirs, value: ({ original }) => original },
        { name: "this policy", colour: ours, value: ({ policy }) => policy },
      ],
    },
  ];
  const [first, last] = [points[0], points.at(-1)];
  const day = (point: ReplayPoint | undefined) => (point ? new Date(point.at).toISOString().slice(0, 16) : "");
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} 500" role="img" aria-label="${escape(title)}">
<style>text{font:13px system-ui,sans-serif;fill:#5c6b7d}.title{font-weight:600;font-size:15px}.axis{stroke:#5c6b7d;stroke-opacity:.35}polyline{fill:none;stroke-width:1.2}</style>
<text class="title" x="16" y="28">${escape(title)}</text>
${panels.map((panel) => panelSvg(panel, points)).join("\n")}
<text x="${LEFT}" y="488">${day(first)}</text><text x="${WIDTH - RIGHT}" y="488" text-anchor="end">${day(last)}</text>
</svg>
`;
}

function panelSvg({ title, top, height, lines }: Panel, points: readonly ReplayPoint[]): string {
  const most = points.reduce((highest, point) => Math.max(highest, ...lines.map(({ value }) => value(point) ?? 0)), 1);
  const y = (value: number) => top + height - (value / most) * height;
  const axis = [0, most].map(
    (value) =>
      `<line class="axis" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${y(value)}" y2="${y(value)}"/>` +
      `<text x="${LEFT - 8}" y="${y(value) + 4}" text-anchor="end">${Number(value.toPrecision(3))}</text>`,
  );
  const drawn = lines.flatMap(({ name, colour, value }, index) => [
    ...runs(points, value).map((run) => {
      const path = run.map(([x, at]) => `${(LEFT + x).toFixed(1)},${y(at).toFixed(1)}`).join(" ");
      return `<polyline points="${path}" stroke="${colour}"/>`;
    }),
    `<text x="${LEFT + 160 + index * 160}" y="${top - 12}" style="fill:${colour}">${escape(name)}</text>`,
  ]);
  return [`<text x="${LEFT}" y="${top - 12}">${escape(title)}</text>`, ...axis, ...drawn].join("\n");
}

/** Lines without gaps: in each column the lowest and the highest value. A column without a value ends a line. */
function runs(
  points: readonly ReplayPoint[],
  value: (point: ReplayPoint) => number | null,
): readonly (readonly (readonly [number, number])[])[] {
  const found: [number, number][][] = [];
  const columns = Math.max(1, Math.min(COLUMNS, points.length - 1));
  let isOpen = false;
  for (let column = 0; column <= columns; column++) {
    const begin = Math.floor((column * points.length) / (columns + 1));
    const end = Math.floor(((column + 1) * points.length) / (columns + 1));
    const values = points.slice(begin, end).flatMap((point) => value(point) ?? []);
    if (values.length === 0) {
      isOpen = false;
      continue;
    }
    if (!isOpen) found.push([]);
    isOpen = true;
    const x = (column / columns) * COLUMNS;
    for (const at of new Set([Math.min(...values), Math.max(...values)])) found.at(-1)?.push([x, at]);
  }
  return found;
}

function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}
