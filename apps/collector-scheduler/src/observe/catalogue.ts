import { TimeSlice } from "@evenkeel/kube";
import { type Clock, explain } from "@evenkeel/runtime";
import { type CatalogueJob, fingerprint, RunningJob } from "./catalogue-job.ts";
import { DiscoveredGroups } from "./discovered-groups.ts";
import type { DiscoveryBlock, Mechanism } from "./discovery/discovery-block.ts";
import { type DiscoveryParts, startDiscovery } from "./discovery/start-discovery.ts";
import { HeldTargets } from "./held-targets.ts";
import { type Explanation, explainTargets, type TargetQuery } from "./explanation.ts";
import type { SourceHealth, TargetGroup } from "./target-group.ts";
import type { Target, TargetChanges } from "./target.ts";
import { targetOf } from "./target-of.ts";

/** The zones of nodes, for targets of which nothing else says it. */
export interface NodeZones {
  /** Whether they are not known yet and may be soon. */
  readonly isAwaited: boolean;
  zoneOf(node: string): string | undefined;
  /** Calls `listener` with the name of each node of which the zone has changed; gives the end of it. */
  onChange(listener: (node: string) => void): () => void;
}

export interface CatalogueParts {
  readonly clock: Clock;
  readonly discovery: DiscoveryParts;
  /** Absent where zones do not matter. */
  readonly zones?: NodeZones | undefined;
  /** Targets at most; groups that do not fit are held back and `faults` says so. */
  readonly maxTargets: number;
}

/** One discovery block of one job, and how it is doing. */
export interface SourceReport {
  readonly job: string;
  /** Position among the blocks of its job. */
  readonly index: number;
  readonly mechanism: Mechanism;
  readonly health: SourceHealth;
}

export type ChangeListener = (changes: TargetChanges) => void;

/** Milliseconds of relabelling before other events get their turn. */
const SLICE = 8;

const nowhere: NodeZones = { isAwaited: false, zoneOf: () => undefined, onChange: () => () => undefined };

/**
 * The targets of one CollectorLoadBalancer: what its jobs' discovery blocks find, after relabelling. It follows changes
 * group by group, a little at a time, and tells its listeners once for each turn of the event loop.
 */
export class Catalogue {
  readonly #parts: CatalogueParts;
  readonly #zones: NodeZones;
  readonly #jobs = new Map<string, RunningJob>();
  readonly #sources = new Map<string, DiscoveredGroups>();
  /** Sources that have answered, and all of whose groups at that time are relabelled. */
  readonly #settled = new Set<DiscoveredGroups>();
  readonly #held = new HeldTargets();
  readonly #listeners = new Set<ChangeListener>();
  readonly #movedNodes = new Set<string>();
  readonly #endZones: () => void;
  #isWorking = false;
  #isStopped = false;
  #hasZones = false;
  #newsOfSources = false;

  constructor(parts: CatalogueParts) {
    this.#parts = parts;
    this.#zones = parts.zones ?? nowhere;
    this.#endZones = this.#zones.onChange((node) => {
      this.#movedNodes.add(node);
      this.#work();
    });
  }

  /**
   * Replaces the jobs. What did not change stays: the discovery of equal blocks goes on, and only jobs that are new or
   * have other rules are relabelled.
   */
  setJobs(jobs: readonly CatalogueJob[]): void {
    const before = new Map(this.#sources);
    const used = new Set<string>();
    const names = new Set(jobs.map(({ job }) => job));
    for (const running of [...this.#jobs.values()]) if (!names.has(running.job)) this.#end(running);
    for (const job of jobs) {
      const known = this.#jobs.get(job.job);
      const isSame = known !== undefined && fingerprint(known.scrape) === fingerprint(job.scrape);
      if (known && !isSame) this.#end(known);
      const running = isSame ? known : new RunningJob(job);
      this.#jobs.set(job.job, running);
      const blocks = new Map(job.discovery.map((block) => [fingerprint(block), block]));
      for (const [text, source] of running.sources) if (!blocks.has(text)) this.#leave(running, text, source);
      for (const [text, block] of blocks) {
        used.add(text);
        if (!running.sources.has(text)) this.#join(running, text, block);
      }
    }
    for (const [text, source] of before) if (!used.has(text)) this.#drop(text, source);
    for (const [text, source] of this.#sources) if (!before.has(text)) this.#start(source);
    this.#retryHeldBack();
    this.#newsOfSources = true;
    this.#work();
  }

  /** By identity. */
  get targets(): ReadonlyMap<string, Target> {
    return this.#held.targets;
  }

  /** Whether every source of every job has answered once and its targets are here. */
  get answered(): boolean {
    return [...this.#jobs.values()].every((job) => this.#hasAnswered(job));
  }

  /** Whether every source of this job has answered once and its targets are here. */
  hasAnswered(job: string): boolean {
    const running = this.#jobs.get(job);
    return running !== undefined && this.#hasAnswered(running);
  }

  /** Whether the targets found have the zones of their nodes, or these are no longer waited for. True stays true. */
  get hasZones(): boolean {
    return (this.#hasZones ||= !this.#zones.isAwaited && !this.#isWorking && this.#movedNodes.size === 0);
  }

  get sources(): readonly SourceReport[] {
    return [...this.#jobs.values()].flatMap(({ job, sources, faults }) =>
      [...sources.values()].map((source, index) => {
        const [fault] = faults.get(source)?.values() ?? [];
        const health = fault === undefined ? source.health : { ...source.health, fault };
        return { job, index, mechanism: source.block.mechanism, health };
      }),
    );
  }

  /** Groups of targets that are held back because `maxTargets` is reached. */
  get heldBack(): number {
    let sum = 0;
    for (const job of this.#jobs.values()) for (const groups of job.heldBack.values()) sum += groups.size;
    return sum;
  }

  /**
   * Calls `listener` after each turn in which targets changed, and with no changes when a source answers for the first
   * time, fails or recovers. A target in both lists has the same identity with another zone, node or expected series.
   */
  onChange(listener: ChangeListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Why a target is scraped or not, worked out from what the sources have found. */
  explain(query: TargetQuery): Explanation {
    return explainTargets(query, this.#jobs.values());
  }

  stop(): void {
    this.#isStopped = true;
    this.#endZones();
    this.#listeners.clear();
    for (const [text, source] of this.#sources) this.#drop(text, source);
  }

  #hasAnswered({ sources, unread }: RunningJob): boolean {
    if (unread.size > 0) return false;
    // Asked with each poll: no list is made for it.
    for (const source of sources.values()) if (!this.#settled.has(source)) return false;
    return true;
  }

  #join(job: RunningJob, text: string, block: DiscoveryBlock): void {
    const known = this.#sources.get(text);
    const source = known ?? new DiscoveredGroups(block);
    this.#sources.set(text, source);
    job.sources.set(text, source);
    source.gates.add(job, job.gate, source.groups);
    if (known) job.unread.add(source);
  }

  #leave(job: RunningJob, text: string, source: DiscoveredGroups): void {
    for (const targets of job.made.get(source)?.values() ?? [])
      for (const target of targets) this.#held.release(target);
    source.gates.remove(job, job.gate);
    job.sources.delete(text);
    job.unread.delete(source);
    job.made.delete(source);
    job.heldBack.delete(source);
    job.faults.delete(source);
  }

  #end(job: RunningJob): void {
    for (const [text, source] of job.sources) this.#leave(job, text, source);
    this.#jobs.delete(job.job);
  }

  #start(source: DiscoveredGroups): void {
    const sink = {
      update: (groups: readonly TargetGroup[]) => {
        source.update(groups);
        this.#work();
      },
      health: (health: SourceHealth) => {
        const { answered, fault } = source.health;
        if (answered !== health.answered || fault !== health.fault) this.#newsOfSources = true;
        source.health = health;
        this.#work();
      },
    };
    source.discovery = startDiscovery(source.block, sink, this.#parts.discovery);
  }

  #drop(text: string, source: DiscoveredGroups): void {
    source.discovery?.stop();
    this.#sources.delete(text);
    this.#settled.delete(source);
  }

  #work(): void {
    if (this.#isWorking || this.#isStopped) return;
    this.#isWorking = true;
    setImmediate(() => void this.#workOff());
  }

  async #workOff(): Promise<void> {
    const slice = new TimeSlice(this.#parts.clock, SLICE);
    for (const step of this.#steps()) {
      step();
      if (!slice.spent) continue;
      this.#tell();
      await slice.rest();
      if (this.#isStopped) return;
    }
    for (const source of this.#sources.values()) this.#settle(source);
    this.#isWorking = false;
    this.#tell();
    if (this.#hasWork()) this.#work();
  }

  /** A source may answer after its groups had their turn: then the groups it has changed are relabelled first. */
  #settle(source: DiscoveredGroups): void {
    if (!source.health.answered || source.changed.size > 0 || this.#settled.has(source)) return;
    this.#settled.add(source);
    this.#newsOfSources = true;
  }

  #hasWork(): boolean {
    const hasChanged = [...this.#sources.values()].some(({ changed }) => changed.size > 0);
    return hasChanged || this.#movedNodes.size > 0 || [...this.#jobs.values()].some(({ unread }) => unread.size > 0);
  }

  /** What is to be done, one group of one job at a time. Jobs and groups may change between the steps. */
  *#steps(): Iterable<() => void> {
    this.#markMovedNodes();
    for (const job of this.#jobs.values()) {
      for (const source of job.unread) {
        const groups = source.gates.groupsFor(job, job.gate) ?? source.groups.keys();
        for (const group of groups) yield () => this.#attempt(job, source, group);
        job.unread.delete(source);
      }
    }
    for (const source of this.#sources.values()) {
      for (const group of source.changed) {
        source.changed.delete(group);
        const jobs = source.gates.update(group, source.groups.get(group));
        for (const job of jobs) yield () => this.#attempt(job, source, group);
      }
    }
  }

  /** Relabels a group of a job. A failure concerns this group alone: the others go on. */
  #attempt(job: RunningJob, source: DiscoveredGroups, group: string): void {
    // A configuration may have changed since the step was planned.
    if (this.#jobs.get(job.job) !== job || ![...job.sources.values()].includes(source)) return;
    const before = job.faults.get(source)?.get(group);
    let fault: string | undefined;
    try {
      this.#relabel(job, source, group);
    } catch (error) {
      fault = `${group} could not be relabelled: ${explain(error)}`;
    }
    if (fault === before) return;
    job.setFault(source, group, fault);
    this.#newsOfSources = true;
  }

  #relabel(job: RunningJob, source: DiscoveredGroups, name: string): void {
    const group = source.groups.get(name);
    const before = job.targetsOf(source, name);
    const after = group ? this.#targetsOf(job, group) : [];
    const room = this.#parts.maxTargets - this.#held.targets.size + before.length;
    const isHeld = after.length > room;
    job.holdBack(source, name, isHeld);
    const kept = isHeld ? before.filter(({ identity }) => after.some((target) => target.identity === identity)) : after;
    if (before.length === 0 && kept.length === 0) return;
    for (const target of kept) this.#held.hold(target);
    for (const target of before) this.#held.release(target);
    job.setTargets(source, name, kept);
    if (kept.length < before.length) this.#retryHeldBack();
  }

  #targetsOf(job: RunningJob, group: TargetGroup): readonly Target[] {
    const targets: Target[] = [];
    for (const target of group.targets) {
      const outcome = job.relabelling.outcome(group.labels, target);
      if (outcome.kind !== "kept") continue;
      const discovered = { group: group.labels, target };
      targets.push(targetOf(job.job, outcome.labels, discovered, (node) => this.#zones.zoneOf(node)));
    }
    return targets;
  }

  #retryHeldBack(): void {
    if (this.#held.targets.size >= this.#parts.maxTargets) return;
    for (const job of this.#jobs.values())
      for (const [source, groups] of job.heldBack) for (const group of groups) source.changed.add(group);
  }

  #markMovedNodes(): void {
    if (this.#movedNodes.size === 0) return;
    for (const job of this.#jobs.values())
      for (const [source, groups] of job.made)
        for (const [group, targets] of groups)
          if (targets.some(({ node = "" }) => this.#movedNodes.has(node))) source.changed.add(group);
    this.#movedNodes.clear();
  }

  #tell(): void {
    const { added, removed } = this.#held.takeChanges();
    if (added.length === 0 && removed.length === 0 && !this.#newsOfSources) return;
    this.#newsOfSources = false;
    for (const listener of this.#listeners) listener({ added, removed });
  }
}
