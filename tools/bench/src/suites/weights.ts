import { barred, figure, type Result } from "../result.ts";
import type { Outcome, Suite } from "../suite.ts";
import { closedLoop, type Course, INTERVAL } from "../weights/closed-loop.ts";
import { BARE_POLICY, evenkeel, original, POLICY, type Scope, SCOPES } from "../weights/controllers.ts";
import {
  movesInGaps,
  overload,
  secondsOutside,
  settlingTimes,
  reversals,
  reversalsAfterSettling,
} from "../weights/measures.ts";
import { stepTrace, type Trace, traces } from "../weights/traces.ts";

const { minimum, maximum } = POLICY;

/** Both rules on the same trace. */
interface Pair {
  readonly trace: Trace;
  readonly scope: Scope;
  readonly ours: Course;
  readonly theirs: Course;
}

/** Seconds between two reconciles in the original's README. */
const MINUTE = 60;

function run(trace: Trace, scope: Scope, interval = INTERVAL): Pair {
  const ours = closedLoop(trace, scope, evenkeel(scope), interval);
  return { trace, scope, ours, theirs: closedLoop(trace, scope, original(), interval) };
}

/** Steps at every second between two reconciles: a rule that settles must do so whenever the load jumps. */
function stepResults(scope: Scope, interval: number): readonly Result[] {
  const pairs = Array.from({ length: interval }, (_, phase) => run(stepTrace(phase), scope, interval));
  const worst = (measure: (pair: Pair) => number) => Math.max(...pairs.map(measure));
  const settling = (course: Course, trace: Trace) => Math.max(...settlingTimes(course, trace));
  const about = `step, ${scope}, every ${interval} s`;
  const settled = worst(({ ours, trace }) => settling(ours, trace));
  return [
    // Of three TTLs, a minute between two reconciles can be more than one: it is reported without a bar.
    interval === INTERVAL
      ? barred(`${about}: settling, worst phase`, settled, "TTL", "<= 3")
      : figure(`${about}: settling, worst phase`, settled, "TTL"),
    figure(
      `${about}: settling, original`,
      worst(({ theirs, trace }) => settling(theirs, trace)),
      "TTL",
    ),
    barred(
      `${about}: reversals after settling`,
      worst(({ ours, trace }) => reversalsAfterSettling(ours, trace)),
      "reversals",
      "<= 1",
    ),
    figure(
      `${about}: reversals, original`,
      worst(({ theirs, trace }) => reversals(theirs, 0, trace.seconds)),
      "reversals",
    ),
  ];
}

function traceResults({ trace, scope, ours, theirs }: Pair): readonly Result[] {
  const about = `${trace.name}, ${scope}`;
  const all = (course: Course) => reversals(course, 0, trace.seconds);
  return [
    figure(`${about}: overload`, overload(ours), "target·s"),
    figure(`${about}: overload, original`, overload(theirs), "target·s"),
    // Every load but the step's rises and falls once at most, so that a second reversal would be caused by the rule.
    trace.steps.length === 0
      ? barred(`${about}: reversals`, all(ours), "reversals", "<= 1")
      : figure(`${about}: reversals`, all(ours), "reversals"),
    figure(`${about}: reversals, original`, all(theirs), "reversals"),
    barred(
      `${about}: outside ${minimum}..${maximum ?? ""}`,
      secondsOutside(ours, minimum, maximum ?? NaN),
      "s",
      "<= 0",
    ),
    ...(trace.gaps.length === 0
      ? []
      : [
          barred(`${about}: changes during gaps`, movesInGaps(ours, trace), "changes", "<= 0"),
          figure(`${about}: changes during gaps, original`, movesInGaps(theirs, trace), "changes"),
        ]),
    ...(theirs.refused === 0 ? [] : [figure(`${about}: refused, original`, theirs.refused, "writes")]),
  ];
}

/**
 * Where the original's rule has a defect. With a faultless metric of the whole load it has none, and nothing to be
 * beaten in.
 */
function ratios(pairs: readonly Pair[]): readonly Result[] {
  return pairs
    .filter(({ trace, scope }) => scope === "base" || trace.gaps.length > 0 || trace.name === "peak")
    .map(({ trace, scope, ours, theirs }) => {
      const ratio = overload(ours) / overload(theirs);
      return barred(`${trace.name}, ${scope}: overload / original's`, ratio, "ratio", "<= 0.5");
    });
}

/**
 * What tolerance and smoothing cost: with a faultless metric of the whole load, the bare rule follows it as closely as
 * the original's.
 */
function bareResults(): readonly Result[] {
  return traces
    .filter(({ name }) => ["step", "ramp", "daily"].includes(name))
    .map((trace) => {
      const bare = overload(closedLoop(trace, "total", evenkeel("total", BARE_POLICY)));
      const theirs = overload(closedLoop(trace, "total", original()));
      return barred(
        `${trace.name}, total: overload of the bare policy / original's`,
        bare / theirs,
        "ratio",
        "<= 1.05",
      );
    });
}

function stepPlot(): Outcome["plot"] {
  const { ours, theirs } = run(stepTrace(0), "base", MINUTE);
  const lines = [
    { name: "weight-rebalancer", values: ours.weights },
    { name: "original", values: theirs.weights },
  ];
  return {
    title: "Weight while the load doubles and only the base is measured",
    unit: "",
    lines,
    across: { most: 60, unit: "min" },
  };
}

/** The closed loop of decision, DNS and load, compared with the original's rule. */
export const weights: Suite = {
  name: "weights",
  about: "weights that follow a load through DNS, in virtual time, compared with the original's rule",
  run(progress) {
    const pairs = traces.flatMap((trace) => {
      progress(trace.name);
      return SCOPES.map((scope) => run(trace, scope));
    });
    const steps = SCOPES.flatMap((scope) => [INTERVAL, MINUTE].flatMap((interval) => stepResults(scope, interval)));
    const results = [...steps, ...pairs.flatMap(traceResults)];
    return Promise.resolve({ results: [...results, ...ratios(pairs), ...bareResults()], plot: stepPlot() });
  },
};
