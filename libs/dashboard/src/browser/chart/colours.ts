/** What a line is, which decides its colour: the same in every chart. */
export type Ink = "accent" | "ink" | "quiet" | "warn";

export interface Colours extends Readonly<Record<Ink, string>> {
  readonly line: string;
  readonly surface: string;
}

/** The theme's colours for a canvas, read from the page. */
export function readColours(element: HTMLElement): Colours {
  const probe = document.createElement("span");
  probe.hidden = true;
  element.append(probe);
  const read = (name: string) => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  };
  const colours = {
    accent: read("accent"),
    ink: read("ink"),
    quiet: read("quiet"),
    warn: read("warn"),
    line: read("line"),
    surface: read("surface"),
  };
  probe.remove();
  return colours;
}
