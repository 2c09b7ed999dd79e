/** Longer lists are cut. */
const LISTED = 3;

/**
 * The value of a decision on one line: `a, b and 18 more` for a list, `tokyo 4, osaka 3` for a split over clusters,
 * `3 collectors, 2 moves` for a fleet, `key value` pairs for any other object. A text stays as it is. Programs read the
 * JSON.
 */
export function valueWords(value: unknown): string {
  if (value === null || value === undefined) return "unknown";
  if (typeof value === "string") return value;
  if (typeof value !== "object") return JSON.stringify(value);
  if (!Array.isArray(value)) return isFleet(value) ? fleetWords(value) : pairs(value);
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

/** Replicas of a workload in one cluster, as endpoint-proxy decides about them. */
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

/** The collectors of a fleet and how many targets change their collector, as collector-scheduler decides about them. */
interface Fleet {
  readonly members: readonly unknown[];
  readonly moves: number;
}

function isFleet(value: object): value is Fleet {
  const { members, moves } = value as Partial<Fleet>;
  return Array.isArray(members) && typeof moves === "number";
}

function fleetWords({ members, moves }: Fleet): string {
  return `${counted(members.length, "collector")}, ${counted(moves, "move")}`;
}

function counted(count: number, thing: string): string {
  return `${count} ${count === 1 ? thing : `${thing}s`}`;
}
