export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** The samples of one metric in a text of /metrics. */
export function samplesOf(text: string, name: string): readonly Sample[] {
  return text
    .split("\n")
    .filter((line) => line.startsWith(name))
    .flatMap((line) => {
      const [, labels = "", value] = /^[\w:]+(?:\{(.*)\})? (\S+)(?: \d+)?$/.exec(line) ?? [];
      const exact = line[name.length] === "{" || line[name.length] === " ";
      return value === undefined || !exact ? [] : [{ labels: labelsOf(labels), value: Number(value) }];
    });
}

function labelsOf(text: string): Readonly<Record<string, string>> {
  const pairs = [...text.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)];
  return Object.fromEntries(pairs.map(([, name = "", value = ""]) => [name, value.replaceAll(/\\(.)/g, unescaped)]));
}

function unescaped(_whole: string, character: string): string {
  return character === "n" ? "\n" : character;
}
