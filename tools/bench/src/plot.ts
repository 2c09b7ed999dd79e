import type { Extent, Line, Plot, Series } from "./suite.ts";

const width = 720;
const rowHeight = 34;
const left = 250;
const right = 90;

export function chart(plot: Plot): string {
  return "lines" in plot
    ? lineChart(plot.title, plot.unit, plot.lines, plot.across)
    : barChart(plot.title, plot.unit, plot.series);
}

/** A bar chart of medians with each round as a dot, as SVG that reads in light and dark. */
export function barChart(title: string, unit: string, series: readonly Series[]): string {
  const most = Math.max(...series.flatMap(({ values }) => values));
  const x = (value: number) => left + (value / most) * (width - left - right);
  const rows = series.map(({ name, values, middle }, index) => {
    const y = 56 + index * rowHeight;
    const dots = values.map((value) => `<circle cx="${x(value).toFixed(1)}" cy="${y + 10}" r="2.5"/>`).join("");
    return (
      `<text x="${left - 12}" y="${y + 15}" text-anchor="end">${escape(name)}</text>` +
      `<rect x="${left}" y="${y}" width="${(x(middle) - left).toFixed(1)}" height="20" rx="2"/>${dots}` +
      `<text x="${width - right + 12}" y="${y + 15}">${Number(middle.toPrecision(3))} ${escape(unit)}</text>`
    );
  });
  const height = 72 + series.length * rowHeight;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escape(title)}">
<style>text{font:13px system-ui,sans-serif;fill:#5c6b7d}rect{fill:#3a93bd}circle{fill:#0b3d54;fill-opacity:.55}.title{font-weight:600;font-size:15px}</style>
<text class="title" x="16" y="30">${escape(title)}</text>
${rows.join("\n")}
</svg>
`;
}

const COLOURS = ["#3a93bd", "#c2703d", "#7a8794"];

/** Lines of values for each step of the horizontal axis, as SVG that reads in light and dark. */
export function lineChart(title: string, unit: string, lines: readonly Line[], across: Extent): string {
  const frame = { left: 56, right: 28, top: 72, bottom: 36, height: 340 };
  // Whole numbers at the four lines of the grid.
  const most = 4 * Math.ceil(Math.max(1, ...lines.flatMap(({ values }) => values)) / 4);
  const x = (part: number) => frame.left + part * (width - frame.left - frame.right);
  const y = (value: number) => frame.height - frame.bottom - (value / most) * (frame.height - frame.top - frame.bottom);
  const grid = [0, 0.25, 0.5, 0.75, 1].map((part) => {
    const height = y(part * most).toFixed(1);
    return (
      `<line x1="${frame.left}" x2="${width - frame.right}" y1="${height}" y2="${height}"/>` +
      `<text x="${frame.left - 8}" y="${(y(part * most) + 4).toFixed(1)}" text-anchor="end">${Number((part * most).toPrecision(3))}</text>` +
      `<text x="${x(part).toFixed(1)}" y="${frame.height - 14}" text-anchor="middle">${Number((part * across.most).toPrecision(3))} ${escape(across.unit)}</text>`
    );
  });
  const drawn = lines.map(({ name, values }, index) => {
    const colour = COLOURS[index % COLOURS.length] ?? "";
    const points = values.flatMap((value, at) =>
      at > 0 && at < values.length - 1 && value === values[at - 1] && value === values[at + 1]
        ? []
        : [`${x(at / Math.max(1, values.length - 1)).toFixed(1)},${y(value).toFixed(1)}`],
    );
    const key = frame.left + index * 190;
    return (
      `<polyline points="${points.join(" ")}" stroke="${colour}"/>` +
      `<rect x="${key}" y="46" width="14" height="4" fill="${colour}"/><text x="${key + 20}" y="52">${escape(name)}</text>`
    );
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${frame.height}" role="img" aria-label="${escape(title)}">
<style>text{font:13px system-ui,sans-serif;fill:#5c6b7d}line{stroke:#5c6b7d;stroke-opacity:.25}polyline{fill:none;stroke-width:2}.title{font-weight:600;font-size:15px}</style>
<text class="title" x="16" y="30">${escape(title)}${unit === "" ? "" : `, ${escape(unit)}`}</text>
${[...grid, ...drawn].join("\n")}
</svg>
`;
}

function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
