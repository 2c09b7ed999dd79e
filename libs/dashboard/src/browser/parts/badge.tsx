import type { ComponentChildren } from "preact";

export type Tone = "accent" | "quiet" | "ok" | "warn" | "bad";

/** A state in a word. The word says it; the colour only helps. */
export function Badge({ tone, children }: { readonly tone: Tone; readonly children: ComponentChildren }) {
  return <span class={`badge ${tone}`}>{children}</span>;
}
