/** What the service's heap was, right after a forced collection. */
export interface HeapSample {
  /** Seconds since the run began. */
  readonly at: number;
  readonly bytes: number;
}

/** What came of a run. */
export interface Soaked {
  readonly minutes: number;
  readonly heap: readonly HeapSample[];
  /** Log lines of level error or fatal. */
  readonly errors: readonly string[];
  /** Lines of level warn. Without any, none of the trouble has reached the service. */
  readonly warnings: number;
  /** What the process wrote to stderr. */
  readonly stderr: string;
  readonly exitCode: number | null;
  readonly replays: readonly { readonly id: string; readonly same: boolean }[];
  /** Records that do not have the weight that is asked for, after all is calm. */
  readonly astray: readonly string[];
}

/** How much the heap may grow from the third tenth to the last. */
const GROWTH = 0.05;

/** Shorter runs are over before the process is warm. */
const JUDGED_MINUTES = 5;

const SNAPSHOTS = 100;

/** What is wrong with a run, a sentence each; nothing if it went well. */
export function faultsOf(soaked: Soaked): readonly string[] {
  const { minutes, heap, errors, warnings, stderr, exitCode, replays, astray } = soaked;
  const faults: string[] = [];
  const growth = growthOf(heap, minutes);
  if (growth === undefined) faults.push("there are too few samples of the heap");
  else if (minutes >= JUDGED_MINUTES && growth > GROWTH) {
    faults.push(`the heap grew by ${percent(growth)}, which is more than ${percent(GROWTH)}`);
  }
  if (errors.length > 0) faults.push(`${errors.length} lines of the log are errors; the first: ${errors[0] ?? ""}`);
  if (warnings === 0) faults.push("no trouble has reached the service: its log has no warning");
  if (stderr !== "") faults.push(`the process wrote to stderr: ${stderr.slice(0, 1000)}`);
  if (exitCode !== 0) faults.push(`the process ended with ${exitCode ?? "a signal"}, not with 0`);
  if (replays.length < SNAPSHOTS) faults.push(`only ${replays.length} snapshots could be taken, not ${SNAPSHOTS}`);
  const different = replays.filter(({ same }) => !same);
  if (different.length > 0) {
    faults.push(`${different.length} snapshots lead to other decisions: ${different.map(({ id }) => id).join(", ")}`);
  }
  if (astray.length > 0) faults.push(`${astray.length} weights are astray: ${astray.join("; ")}`);
  return faults;
}

/** By which part the last tenth's median is above the third's. Nothing if either has no samples. */
export function growthOf(heap: readonly HeapSample[], minutes: number): number | undefined {
  const [third, last] = [heapIn(heap, minutes, 3), heapIn(heap, minutes, 10)];
  return third === undefined || last === undefined ? undefined : (last - third) / third;
}

/** The median of a tenth of the run, counted from 1. */
export function heapIn(heap: readonly HeapSample[], minutes: number, tenth: number): number | undefined {
  const length = minutes * 6;
  const inside = heap.filter(({ at }) => at >= (tenth - 1) * length && at < tenth * length);
  return inside.map(({ bytes }) => bytes).toSorted((one, other) => one - other)[Math.floor(inside.length / 2)];
}

export function percent(part: number): string {
  return `${(part * 100).toFixed(1)} %`;
}
