import type { GroupGate } from "./group-gate.ts";
import type { TargetGroup } from "./target-group.ts";

/** The groups and the jobs that agree in the values of one gate's labels. */
interface GateLabels<Job> {
  readonly labels: readonly string[];
  readonly separator: string;
  readonly jobs: Map<string, Set<Job>>;
  readonly groups: Map<string, Set<string>>;
  readonly valuesOf: Map<string, ReadonlySet<string>>;
}

/** Different sets of labels at most; jobs with another one look at every group. */
const MOST = 64;

const nobody: ReadonlySet<never> = new Set<never>();

/**
 * Finds, of the groups of one source, those that a job may keep targets of, and of its jobs those that a group may
 * concern. A thousand jobs that each keep two Services cost as much as the groups they keep.
 */
export class GateIndex<Job> {
  readonly #gates = new Map<string, GateLabels<Job>>();
  /** Jobs that every group may concern. */
  readonly #open = new Set<Job>();

  /** Adds a job. `groups` are those that the source has now. */
  add(job: Job, gate: GroupGate | undefined, groups: ReadonlyMap<string, TargetGroup>): void {
    const found = gate && this.#gateLabels(gate, groups);
    if (!gate || !found) {
      this.#open.add(job);
      return;
    }
    for (const value of gate.values) setOf(found.jobs, value).add(job);
  }

  remove(job: Job, gate: GroupGate | undefined): void {
    this.#open.delete(job);
    const found = gate && this.#gates.get(keyOf(gate));
    if (!found) return;
    for (const value of gate.values) removeFrom(found.jobs, value, job);
    if (found.jobs.size === 0) this.#gates.delete(keyOf(gate));
  }

  /** The groups that may have targets for a job that was added; undefined if all may. */
  groupsFor(job: Job, gate: GroupGate | undefined): ReadonlySet<string> | undefined {
    const found = gate && !this.#open.has(job) ? this.#gates.get(keyOf(gate)) : undefined;
    return found && new Set([...(gate?.values ?? [])].flatMap((value) => [...(found.groups.get(value) ?? nobody)]));
  }

  /** Takes a group that is new, changed or gone. Returns the jobs that it may concern, or did before. */
  update(source: string, group: TargetGroup | undefined): ReadonlySet<Job> {
    const jobs = new Set(this.#open);
    for (const gate of this.#gates.values()) {
      const before = gate.valuesOf.get(source) ?? nobody;
      put(gate, source, group);
      for (const value of [...before, ...(gate.valuesOf.get(source) ?? nobody)])
        for (const job of gate.jobs.get(value) ?? nobody) jobs.add(job);
    }
    return jobs;
  }

  #gateLabels(gate: GroupGate, groups: ReadonlyMap<string, TargetGroup>): GateLabels<Job> | undefined {
    const known = this.#gates.get(keyOf(gate));
    if (known || this.#gates.size >= MOST) return known;
    const { labels, separator } = gate;
    const made: GateLabels<Job> = { labels, separator, jobs: new Map(), groups: new Map(), valuesOf: new Map() };
    for (const [source, group] of groups) put(made, source, group);
    this.#gates.set(keyOf(gate), made);
    return made;
  }
}

function keyOf({ labels, separator }: GroupGate): string {
  return JSON.stringify([separator, ...labels]);
}

function put<Job>(gate: GateLabels<Job>, source: string, group: TargetGroup | undefined): void {
  for (const value of gate.valuesOf.get(source) ?? nobody) removeFrom(gate.groups, value, source);
  gate.valuesOf.delete(source);
  if (!group) return;
  const values = valuesOf(gate, group);
  gate.valuesOf.set(source, values);
  for (const value of values) setOf(gate.groups, value).add(source);
}

/** The joined values of the targets of a group; one where none of them has any of the labels itself. */
function valuesOf({ labels, separator }: GateLabels<unknown>, group: TargetGroup): ReadonlySet<string> {
  const common = labels.map((name) => group.labels.get(name) ?? "").join(separator);
  const own = group.targets.map((target) =>
    labels.some((name) => target.has(name))
      ? labels.map((name) => target.get(name) ?? group.labels.get(name) ?? "").join(separator)
      : common,
  );
  return new Set(own);
}

function setOf<T>(sets: Map<string, Set<T>>, value: string): Set<T> {
  const known = sets.get(value) ?? new Set<T>();
  sets.set(value, known);
  return known;
}

function removeFrom<T>(sets: Map<string, Set<T>>, value: string, member: T): void {
  const set = sets.get(value);
  set?.delete(member);
  if (set?.size === 0) sets.delete(value);
}
