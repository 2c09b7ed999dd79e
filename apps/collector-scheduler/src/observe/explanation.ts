import type { Labels, Outcome, Step } from "@evenkeel/relabel";
import type { RunningJob } from "./catalogue-job.ts";
import type { Mechanism } from "./discovery/discovery-block.ts";
import type { TargetGroup } from "./target-group.ts";

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
    for (const { block, groups } of running.sources.values()) {
      for (const group of groups.values()) {
        for (const target of group.targets) {
          const found = look(query, running, group, target);
          if (found) seen.push({ job: running.job, mechanism: block.mechanism, source: group.source, ...found });
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

/** What became of a target, if it is the one that is asked for. */
function look(
  query: TargetQuery,
  { relabelling }: RunningJob,
  group: TargetGroup,
  target: Labels,
): Pick<Sighting, "discovered" | "outcome"> | undefined {
  const discovered = new Map([...group.labels, ...target]);
  if (query.pod !== undefined && podOf(discovered) !== query.pod) return undefined;
  const wanted = Object.entries({
    ...query.labels,
    ...(query.address !== undefined && { __address__: query.address }),
  });
  // Only rules can give a label that was not discovered, so most targets are judged without them.
  const outcome = relabelling.outcome(group.labels, target);
  const after = outcome.kind === "kept" ? outcome.labels : undefined;
  const fits = wanted.every(([name, value]) => (discovered.get(name) ?? "") === value || after?.get(name) === value);
  return fits ? { discovered, outcome } : undefined;
}

const META = "__meta_kubernetes_";

function podOf(labels: Labels): string | undefined {
  const isTarget = ["endpointslice", "endpoint"].find(
    (kind) => labels.get(`${META}${kind}_address_target_kind`) === "Pod",
  );
  const name =
    labels.get(`${META}pod_name`) ??
    (isTarget === undefined ? undefined : labels.get(`${META}${isTarget}_address_target_name`));
  return name === undefined ? undefined : `${labels.get(`${META}namespace`) ?? ""}/${name}`;
}

function progress(outcome: Outcome): number {
  if (outcome.kind === "kept") return Infinity;
  return outcome.kind === "invalid" ? Number.MAX_SAFE_INTEGER : outcome.rule;
}
