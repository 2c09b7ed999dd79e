import type { Series } from "./suite.ts";

const width = 720;
const rowHeight = 34;
const left = 250;
const right = 90;

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

function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
