import { PortsExhausted } from "./path-errors.ts";

/** Both ends are included. */
export interface PortRange {
  readonly first: number;
  readonly last: number;
}

/** Parses `20000-20999`; undefined if the text is not a port range. */
export function parsePortRange(text: string): PortRange | undefined {
  const [, first, last] = (/^(\d{1,5})-(\d{1,5})$/.exec(text) ?? []).map(Number);
  if (first === undefined || last === undefined || first < 1 || first > last || last > 65_535) return undefined;
  return { first, last };
}

/** A range that `portRangeContradictions` has accepted. */
export function portRangeOf(text: string): PortRange {
  const range = parsePortRange(text);
  if (range === undefined) throw new RangeError(`not a range of ports: ${text}`);
  return range;
}

export function isInPortRange(port: number, { first, last }: PortRange): boolean {
  return port >= first && port <= last;
}

/** Contradictions between the range and the program's own ports, by their flags: one line each. */
export function portRangeContradictions(text: string, own: Readonly<Record<string, number>>): readonly string[] {
  const range = parsePortRange(text);
  if (range === undefined)
    return [
      `--port-range must be two ports from 1 to 65535 such as 20000-20999, not ${JSON.stringify(text.slice(0, 100))}`,
    ];
  return Object.entries(own)
    .filter(([, port]) => isInPortRange(port, range))
    .map(([flag, port]) => `${flag} ${port} is within --port-range ${text}, which is reserved for Services`);
}

/**
 * Assigns a port of the range to each key in `wanted`. The keys of `wanted` and `taken` are `namespace/name/portName`.
 *
 * `taken` has the recorded ports, those of older objects first. A wanted key keeps its recorded port, unless that is
 * outside the range or an older object has the same. The others get the lowest free numbers. A port that was just
 * released should stay in `taken` under any key until every node has removed the old endpoints, or requests for one
 * Service would reach another.
 *
 * @throws PortsExhausted
 */
export function assignPorts(
  range: PortRange,
  taken: ReadonlyMap<string, number>,
  wanted: readonly string[],
): ReadonlyMap<string, number> {
  const holders = new Map<number, string>();
  for (const [key, port] of taken) {
    if (isInPortRange(port, range) && !holders.has(port)) holders.set(port, key);
  }
  const given = new Map<string, number>();
  for (const [port, key] of holders) given.set(key, port);
  let next = range.first;
  return new Map(
    wanted.map((key) => {
      const kept = given.get(key);
      if (kept !== undefined) return [key, kept];
      while (holders.has(next)) next += 1;
      if (next > range.last) throw exhausted(range, key);
      holders.set(next, key);
      given.set(key, next);
      return [key, next];
    }),
  );
}

function exhausted({ first, last }: PortRange, port: string): Error {
  return new PortsExhausted({ port, size: last - first + 1, range: `${first}-${last}` });
}
