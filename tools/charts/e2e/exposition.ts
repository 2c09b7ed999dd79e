/** A metric as `/metrics` shows it. */
export interface Exposed {
  readonly type: string;
  readonly series: readonly { readonly labels: Readonly<Record<string, string>>; readonly value: number }[];
}

/**
 * The metric of a name in Prometheus' text format; undefined if there is none. Values of labels here hold no quotes.
 */
export function metricIn(text: string, name: string): Exposed | undefined {
  const lines = text.split("\n");
  const type = lines.find((line) => line.startsWith(`# TYPE ${name} `))?.split(" ")[3];
  if (type === undefined) return undefined;
  const series = lines.flatMap((line) => {
    const [, found, labels = "", value] = /^([a-z_:]+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    if (found !== name) return [];
    const pairs = [...labels.matchAll(/([a-z_]+)="([^"]*)"/g)].map(([, key = "", of = ""]) => [key, of] as const);
    return [{ labels: Object.fromEntries(pairs), value: Number(value) }];
  });
  return { type, series };
}

/** The sum of the series that have some labels. */
export function sumOf({ series }: Exposed, labels: Readonly<Record<string, string>> = {}): number {
  const chosen = series.filter((one) => Object.entries(labels).every(([key, value]) => one.labels[key] === value));
  return chosen.reduce((sum, { value }) => sum + value, 0);
}
