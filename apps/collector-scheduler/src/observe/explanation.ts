import type { Labels, Outcome, Step } from "@evenkeel/relabel";
import type { RunningJob } from "./catalogue-job.ts";
import type { DiscoveredGroups } from "./discovered-groups.ts";
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

/** Looks once at what each source found, and then, job by job, only at what may fit: there may be thousands of jobs. */
export function explainTargets(query: TargetQuery, jobs: Iterable<RunningJob>): Explanation {
  const discovered = new Map<DiscoveredGroups, ReadonlySet<FoundTarget>>();
  const seen: { readonly running: RunningJob; readonly sighting: Omit<Sighting, "steps"> }[] = [];
  for (const running of jobs) {
    for (const source of running.sources.values()) {
      const known = discovered.get(source) ?? new Set(fittingTargets(query, source));
      discovered.set(source, known);
      for (const found of [...known, ...fittingAfterwards(query, running, source)]) {
        const { group, target } = found;
        const outcome = running.relabelling.outcome(group.labels, target);
        const after = outcome.kind === "kept" ? outcome.labels : undefined;
        if (!fits(query, found, after)) continue;
        const labels = new Map([...group.labels, ...target]);
        const about = { job: running.job, mechanism: source.block.mechanism, source: group.source };
        seen.push({ running, sighting: { ...about, discovered: labels, outcome } });
      }
    }
  }
  seen.sort((one, other) => progress(other.sighting.outcome) - progress(one.sighting.outcome));
  const sightings = seen.slice(0, SIGHTINGS).map(({ running, sighting }) => ({
    ...sighting,
    steps: running.relabelling.steps(new Map(), sighting.discovered),
  }));
  return { found: seen.length, sightings };
}

interface FoundTarget {
  readonly group: TargetGroup;
  readonly target: Labels;
}

/** The targets of a source that fit before relabelling. */
function* fittingTargets(query: TargetQuery, { groups }: DiscoveredGroups): Iterable<FoundTarget> {
  for (const group of groups.values())
    for (const target of group.targets) if (fits(query, { group, target })) yield { group, target };
}

/** The targets of a source that may fit after a job's relabelling alone. */
function* fittingAfterwards(query: TargetQuery, job: RunningJob, source: DiscoveredGroups): Iterable<FoundTarget> {
  for (const [name, kept] of job.made.get(source) ?? []) {
    const group = source.groups.get(name);
    for (const target of group?.targets ?? []) {
      const found = group && { group, target };
      if (!found || fits(query, found)) continue;
      if (kept.some(({ labels }) => fits(query, found, labels))) yield found;
    }
  }
}

/** Whether a target is the one that is asked for, by its labels before relabelling and, if given, after it. */
function fits({ pod, address, labels = {} }: TargetQuery, { group, target }: FoundTarget, after?: Labels): boolean {
  const discovered = (name: string) => target.get(name) ?? group.labels.get(name);
  const has = (name: string, value: string) => (discovered(name) ?? "") === value || after?.get(name) === value;
  if (pod !== undefined && podOf(discovered) !== pod) return false;
  if (address !== undefined && !has("__address__", address)) return false;
  return Object.entries(labels).every(([name, value]) => has(name, value));
}

const META = "__meta_kubernetes_";

function podOf(labelOf: (name: string) => string | undefined): string | undefined {
  const isTarget = ["endpointslice", "endpoint"].find(
    (kind) => labelOf(`${META}${kind}_address_target_kind`) === "Pod",
  );
  const name =
    labelOf(`${META}pod_name`) ??
    (isTarget === undefined ? undefined : labelOf(`${META}${isTarget}_address_target_name`));
  return name === undefined ? undefined : `${labelOf(`${META}namespace`) ?? ""}/${name}`;
}

function progress(outcome: Outcome): number {
  if (outcome.kind === "kept") return Infinity;
  return outcome.kind === "invalid" ? Number.MAX_SAFE_INTEGER : outcome.rule;
}
