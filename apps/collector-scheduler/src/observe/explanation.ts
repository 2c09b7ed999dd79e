import type { Labels, Outcome, Step } from "@evenkeel/relabel";
import type { RunningJob } from "./catalogue-job.ts";
import type { Mechanism } from "./discovery/discovery-block.ts";
import type { TargetGroup } from "./target-group.ts";
import type { Target } from "./target.ts";

/** Which target is asked for. What is given must all fit. */
export interface TargetQuery {
  /** Labels that the target has before or after relabelling. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Before or after relabelling, such as `10.0.0.7:8080`. */
  readonly address?: string;
  /** `namespace/name`. */
  readonly pod?: string;
}

/** A target as one source found it, and what became of it in one job. */
export interface Sighting {
  readonly job: string;
  readonly mechanism: Mechanism;
  /** The group's source, such as `pod/shop/web-0`. */
  readonly source: string;
  readonly discovered: Labels;
  readonly outcome: Outcome;
  /** The labels after each rule, up to the one that dropped it. */
  readonly steps: readonly Step[];
}

export interface Explanation {
  /** Kept ones first; then those that came furthest through their job's rules. At most `SIGHTINGS`. */
  readonly sightings: readonly Sighting[];
  /** All that fit, those that are not listed too. */
  readonly found: number;
}

/** Sightings in one answer at most. */
export const SIGHTINGS = 50;

export function explainTargets(query: TargetQuery, jobs: Iterable<RunningJob>): Explanation {
  const seen: Omit<Sighting, "steps">[] = [];
  const relabellings = new Map<string, RunningJob>();
  for (const running of jobs) {
    relabellings.set(running.job, running);
    for (const source of running.sources.values()) {
      const { mechanism } = source.block;
      for (const group of source.groups.values()) {
        const made = running.targetsOf(source, group.source);
        for (const target of group.targets) {
          const found = look(query, running, { group, target, made });
          if (found) seen.push({ job: running.job, mechanism, source: group.source, ...found });
        }
      }
    }
  }
  const nearest = seen.sort((one, other) => progress(other.outcome) - progress(one.outcome)).slice(0, SIGHTINGS);
  return {
    found: seen.length,
    sightings: nearest.map((each) => ({
      ...each,
      steps: relabellings.get(each.job)?.relabelling.steps(new Map(), each.discovered) ?? [],
    })),
  };
}

interface Candidate {
  readonly group: TargetGroup;
  readonly target: Labels;
  /** All targets that came of the group. */
  readonly made: readonly Pick<Target, "labels">[];
}

/** What became of a target, if it is the one that is asked for. */
function look(
  query: TargetQuery,
  { relabelling }: RunningJob,
  { group, target, made }: Candidate,
): Pick<Sighting, "discovered" | "outcome"> | undefined {
  const found = (name: string) => target.get(name) ?? group.labels.get(name);
  if (query.pod !== undefined && podOf(found) !== query.pod) return undefined;
  const wanted = Object.entries({
    ...query.labels,
    ...(query.address !== undefined && { __address__: query.address }),
  }).filter(([name, value]) => (found(name) ?? "") !== value);
  // What is not discovered is in a target that came of the group, or nowhere: most are judged without running the rules.
  if (!wanted.every(([name, value]) => made.some(({ labels }) => labels.get(name) === value))) return undefined;
  const outcome = relabelling.outcome(group.labels, target);
  const after = outcome.kind === "kept" ? outcome.labels : undefined;
  if (!wanted.every(([name, value]) => after?.get(name) === value)) return undefined;
  return { discovered: new Map([...group.labels, ...target]), outcome };
}

const META = "__meta_kubernetes_";

function podOf(found: (name: string) => string | undefined): string | undefined {
  const isTarget = ["endpointslice", "endpoint"].find((kind) => found(`${META}${kind}_address_target_kind`) === "Pod");
  const name =
    found(`${META}pod_name`) ?? (isTarget === undefined ? undefined : found(`${META}${isTarget}_address_target_name`));
  return name === undefined ? undefined : `${found(`${META}namespace`) ?? ""}/${name}`;
}

function progress(outcome: Outcome): number {
  if (outcome.kind === "kept") return Infinity;
  return outcome.kind === "invalid" ? Number.MAX_SAFE_INTEGER : outcome.rule;
}
