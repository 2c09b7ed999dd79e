import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

export interface CardProps {
  readonly title: string;
  /** Beside the title: a legend, a choice, a count. */
  readonly aside?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** A section with a title. */
export function Card({ title, aside, children }: CardProps) {
  const id = useId();
  return (
    <section class="card" aria-labelledby={id}>
      <header class="card-head">
        <h2 id={id}>{title}</h2>
        {aside !== undefined && <div class="card-aside">{aside}</div>}
      </header>
      {children}
    </section>
  );
}

export interface StatProps {
  readonly label: string;
  readonly value: ComponentChildren;
  readonly unit?: string | undefined;
  readonly note?: ComponentChildren;
  readonly tone?: "warn" | "bad" | undefined;
}

/** One number with what it is and what it means. */
export function Stat({ label, value, unit, note, tone }: StatProps) {
  return (
    <div class={`stat ${tone ?? ""}`}>
      <div class="stat-label">{label}</div>
      <div class="stat-value">
        {value}
        {unit !== undefined && <span class="unit">{unit}</span>}
      </div>
      {note !== undefined && <div class="stat-note">{note}</div>}
    </div>
  );
}
