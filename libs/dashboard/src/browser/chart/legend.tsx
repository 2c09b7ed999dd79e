import type { Ink } from "./colours.ts";

export interface LegendEntry {
  readonly label: string;
  readonly ink: Ink;
  readonly shape?: "line" | "dashed" | "marker";
}

/** What the lines of a chart are. */
export function Legend({ entries }: { readonly entries: readonly LegendEntry[] }) {
  return (
    <ul class="legend">
      {entries.map(({ label, ink, shape = "line" }) => (
        <li key={label}>
          <span class={`swatch ${ink} ${shape}`} aria-hidden="true" />
          {label}
        </li>
      ))}
    </ul>
  );
}
