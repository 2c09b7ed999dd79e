import type { Candidate, Course } from "./course.ts";
import type { Hold } from "./obstacles.ts";

/** Sources that are looked at together. More find hardly better moves, and take longer. */
const WINDOW = 8;
/** Landings that are asked for in one step before the best of them is taken. */
const MOST_ASKED = 48;
/** How many sources, first moves and second moves are tried when no single move helps. */
const PAIR_SOURCES = 4;
const PAIR_FIRSTS = 16;
const PAIR_PARTNERS = 64;

export interface Sources {
  /** The slots that may give pods now. */
  all(): readonly number[];
  /** Some of them whose best open pod could bring most, the best first. */
  promising(count: number, isWanted: (slot: number) => boolean, isOpen: (pod: number) => boolean): readonly number[];
  /** Pods that may leave the slot. */
  podsOf(slot: number): Int32Array;
  /** The highest score that any landing of the pod could have. */
  bestCase(pod: number): number;
  isTargetReached(): boolean;
}

export type Ending = "TargetReached" | "BudgetSpent" | "AsLevelAsItGets";

export interface Found {
  readonly ending: Ending;
  /** Why pods stayed when they were last looked at. They are looked at again when nothing else helps. */
  readonly holds: ReadonlyMap<number, Hold>;
}

/**
 * Makes moves as long as one helps, the best first. The best is found among the pods of the fullest sources. Where a
 * pod would land is asked only for those that could be the best: a pod's last landing is a guess at its next one, and
 * before the first, the guess is the best case. When no single move helps, two together may.
 */
export function search(course: Course, sources: Sources, budget: number): Found {
  const known = new Map<number, Candidate>();
  const holds = new Map<number, Hold>();
  /** Sources without a good move, and how many moves were made when that was found. */
  const exhausted = new Map<number, number>();
  const isOpen = (pod: number) => !course.hasMoved(pod) && !holds.has(pod);
  for (;;) {
    if (sources.isTargetReached()) return { ending: "TargetReached", holds };
    if (course.moves.length >= budget) return { ending: "BudgetSpent", holds };
    const window = sources.promising(WINDOW, (slot) => !exhausted.has(slot), isOpen);
    if (window.length > 0) {
      const best = bestOf(course, sources, window, known, holds);
      if (best !== undefined) course.make(best);
      else for (const slot of window) exhausted.set(slot, course.moves.length);
      continue;
    }
    // Moves that were made after a source was given up may have changed what helps.
    const again = [...exhausted].flatMap(([slot, moves]) => (moves < course.moves.length ? [slot] : []));
    for (const slot of again) {
      exhausted.delete(slot);
      for (const pod of sources.podsOf(slot)) holds.delete(pod);
    }
    if (again.length === 0 && !makePair(course, sources, budget)) return { ending: "AsLevelAsItGets", holds };
  }
}

/** The best move from some sources, with a landing that is up to date; undefined if none is worthwhile. */
function bestOf(
  course: Course,
  sources: Sources,
  slots: readonly number[],
  known: Map<number, Candidate>,
  holds: Map<number, Hold>,
): Candidate | undefined {
  const pods = Int32Array.from(slots.flatMap((slot) => openPods(sources.podsOf(slot), course, holds)));
  const guesses = new Float64Array(pods.length);
  for (let index = 0; index < pods.length; index += 1) {
    const pod = pods[index] as number;
    const before = known.get(pod);
    guesses[index] = before === undefined ? sources.bestCase(pod) : course.scoreOf(before);
  }
  let best: Candidate | undefined;
  for (let asked = 0; asked < pods.length; asked += 1) {
    const next = indexOfGreatest(guesses);
    const [pod, guess] = [pods[next] as number, guesses[next] as number];
    if (!course.isWorth(guess, 1) || (best !== undefined && (best.score >= guess || asked >= MOST_ASKED))) break;
    guesses[next] = -Infinity;
    const candidate = course.evaluate(pod);
    if ("code" in candidate) {
      known.delete(pod);
      holds.set(pod, candidate);
      continue;
    }
    known.set(pod, candidate);
    if (course.isWorth(candidate.gain, 1) && candidate.score > (best?.score ?? 0)) best = candidate;
  }
  return best;
}

function openPods(pods: Int32Array, course: Course, holds: ReadonlyMap<number, Hold>): number[] {
  const open: number[] = [];
  for (let index = 0; index < pods.length; index += 1) {
    const pod = pods[index] as number;
    if (!course.hasMoved(pod) && !holds.has(pod)) open.push(pod);
  }
  return open;
}

/** Few are asked for of many, so this is cheaper than sorting. */
function indexOfGreatest(values: Float64Array): number {
  let greatest = 0;
  for (let index = 1; index < values.length; index += 1) {
    if ((values[index] as number) > (values[greatest] as number)) greatest = index;
  }
  return greatest;
}

/**
 * Makes two moves that help together, if there are any: such as a large pod that leaves its node, and a small one that
 * makes room where it lands. Looks at the pods of the fullest sources only.
 */
function makePair(course: Course, sources: Sources, budget: number): boolean {
  if (course.moves.length + 2 > budget) return false;
  const { spread } = course;
  const fullest = sources
    .all()
    .toSorted((a, b) => spread.level(b) - spread.level(a))
    .slice(0, PAIR_SOURCES);
  let best: { readonly first: Candidate; readonly second: number; readonly gain: number } | undefined;
  for (const first of leastHarmful(course, sources, fullest)) {
    const slots = new Set([...first.landings.slice(0, 1).map(({ to }) => to), ...fullest]);
    const pods = [...slots].flatMap((slot) => [...sources.podsOf(slot)]);
    course.suppose([first], () => {
      for (const pod of pods.filter((pod) => !course.hasMoved(pod)).slice(0, PAIR_PARTNERS)) {
        const second = course.evaluate(pod);
        if ("code" in second) continue;
        const gain = first.gain + second.gain;
        if (gain > (best?.gain ?? 0)) best = { first, second: pod, gain };
      }
    });
  }
  if (best === undefined || !course.isWorth(best.gain, 2)) return false;
  course.make(best.first);
  const second = course.evaluate(best.second);
  if (!("code" in second)) course.make(second);
  return true;
}

/** The moves from some slots that do least harm alone. */
function leastHarmful(course: Course, sources: Sources, slots: readonly number[]): readonly Candidate[] {
  return slots
    .flatMap((slot) => [...sources.podsOf(slot)])
    .filter((pod) => !course.hasMoved(pod))
    .map((pod) => course.evaluate(pod))
    .filter((candidate): candidate is Candidate => !("code" in candidate))
    .sort((a, b) => b.gain - a.gain)
    .slice(0, PAIR_FIRSTS);
}
