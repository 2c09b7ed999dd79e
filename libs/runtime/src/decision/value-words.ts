/** Longer lists are cut. */
const LISTED = 3;

/**
 * The value of a decision on one line: `a, b and 18 more` for a list, `tokyo 4, osaka 3` for replicas over clusters,
 * `3 pods, 2 moves` for `{ pods: [a, b, c], moves: 2 }`, `key value` pairs for any other object. A text stays as it is.
 * Programs read the JSON.
 */
export function valueWords(value: unknown): string {
  if (value === null || value === undefined) return "unknown";
  if (typeof value === "string") return value;
  if (typeof value !== "object") return JSON.stringify(value);
  if (!Array.isArray(value)) return isTally(value) ? tallyWords(value) : pairs(value);
  return value.length > 0 && value.every(isPart) ? splitWords(value) : listWords(value);
}

function listWords(list: readonly unknown[]): string {
  if (list.length === 0) return "none";
  const cut = list.length > LISTED;
  const shown = (cut ? list.slice(0, LISTED - 1) : list).map(inner).join(", ");
  return cut ? `${shown} and ${list.length - LISTED + 1} more` : shown;
}

function pairs(object: object): string {
  const words = Object.entries(object).map(([key, value]) => `${key} ${inner(value)}`);
  return words.length === 0 ? "none" : words.join(", ");
}

/** A value inside of another one, in parentheses if its own commas would be taken for those around it. */
function inner(value: unknown): string {
  const words = valueWords(value);
  return typeof value === "object" && value !== null && words !== "none" ? `(${words})` : words;
}

/** Replicas of a workload in one cluster. */
interface Part {
  readonly cluster: string;
  readonly replicas: number;
}

function isPart(value: unknown): value is Part {
  const { cluster, replicas } = (value ?? {}) as Partial<Part>;
  return typeof cluster === "string" && typeof replicas === "number";
}

/** All clusters, however many, without those that have no replicas. */
function splitWords(parts: readonly Part[]): string {
  const shown = parts.filter(({ replicas }) => replicas > 0).map(({ cluster, replicas }) => `${cluster} ${replicas}`);
  return shown.length === 0 ? "none" : shown.join(", ");
}

/** Lists and counts under plural keys: of a list only the length is shown. */
type Tally = Readonly<Record<string, number | readonly unknown[]>>;

function isTally(value: object): value is Tally {
  const values: readonly unknown[] = Object.values(value);
  const lists = values.filter(Array.isArray).length;
  const isMixed = lists > 0 && lists < values.length;
  return (
    isMixed &&
    values.every((each) => Array.isArray(each) || Number.isInteger(each)) &&
    Object.keys(value).every((key) => key.endsWith("s"))
  );
}

function tallyWords(tally: Tally): string {
  const counts = Object.entries(tally).map(([things, value]) => {
    const count = typeof value === "number" ? value : value.length;
    return `${count} ${count === 1 ? things.slice(0, -1) : things}`;
  });
  return counts.join(", ");
}
