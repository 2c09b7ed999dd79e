/** Labels by name. An absent label and one with an empty value are the same, as in Prometheus. */
export type Labels = ReadonlyMap<string, string>;

/**
 * Order of two label names by their UTF-8 bytes, which is Prometheus's. It differs from JavaScript's order by UTF-16
 * units only between a surrogate (a code point above U+FFFF) and a unit above U+DFFF.
 */
export function compareNames(one: string, other: string): number {
  const shared = Math.min(one.length, other.length);
  for (let at = 0; at < shared; at++) {
    const left = one.charCodeAt(at);
    const right = other.charCodeAt(at);
    if (left !== right) return byteRank(left) - byteRank(right);
  }
  return one.length - other.length;
}

/** Labels in the order of their names. Sorts `entries` in place. */
export function sortedLabels(entries: [string, string][]): Labels {
  return new Map(entries.sort(([one], [other]) => compareNames(one, other)));
}

/** Ranks a UTF-16 unit as the code point that it belongs to: surrogates come last. */
function byteRank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}
