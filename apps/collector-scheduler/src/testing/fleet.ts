import { type Assignments, NO_ASSIGNMENTS, type Poll } from "../decide/assignments.ts";
import { verdictOf } from "../decide/fleet-decider.ts";
import { Owners } from "../decide/owners.ts";
import { assignmentsAfter } from "../decide/assignments-after.ts";
import { type FleetPlan, planOf } from "../decide/plan.ts";
import type { Collector, FleetSettings, FleetSnapshot, RestartState, ScaleSettings } from "../decide/snapshot.ts";
import { type Observed, snapshotOf, type Weighed } from "../decide/snapshot-of.ts";

/** A fleet for tests: collectors, targets and a clock that only the test moves. */
export class Fleet {
  now = Date.parse("2026-01-01T00:00:00Z");
  assignments: Assignments = NO_ASSIGNMENTS;
  collectors: Collector[] = [];
  targets: Weighed[] = [];
  polls: Poll[] = [];
  drain: string[] = [];
  loadFault: string | null = null;
  /** Whether every source has answered. */
  isDiscovered = true;
  stop: FleetSnapshot["stop"] = null;
  settings: FleetSettings = {
    ...{ pool: "none", fallback: "any", seatGrace: 120_000, movesPerMinute: null, cooldown: 60_000 },
    ...{ handOver: "overlap", handOverJobs: null },
  };
  scale: ScaleSettings = { present: 0, replicas: null, scaler: null };
  restart: RestartState = { policy: "wait", outdated: [], partition: null };

  /** Runs `count` ready collectors. */
  run(count: number, place: (ordinal: number) => Pick<Collector, "zone" | "node"> = () => ({})): this {
    this.collectors = Array.from({ length: count }, (_, ordinal) => ({
      ...{ name: nameOf(ordinal), ordinal, awaySince: null },
      ...place(ordinal),
    }));
    this.scale = { ...this.scale, present: count, replicas: count };
    return this;
  }

  away(name: string): void {
    this.collectors = this.collectors.map((each) => (each.name === name ? { ...each, awaySince: this.now } : each));
  }

  back(name: string): void {
    this.collectors = this.collectors.map((each) =>
      each.name === name ? { ...each, awaySince: null, readySince: this.now } : each,
    );
  }

  snapshot(changes: Partial<Observed> = {}): FleetSnapshot {
    return snapshotOf({
      ...{
        at: new Date(this.now).toISOString(),
        namespace: "telemetry",
        name: "metrics",
        paused: false,
        dryRun: false,
      },
      ...{
        stop: this.stop,
        settings: this.settings,
        scale: this.scale,
        restart: this.restart,
        targetCount: this.isDiscovered ? this.targets.length : null,
      },
      ...{
        collectors: this.collectors,
        drain: this.drain,
        loadFault: this.loadFault,
        polls: this.polls,
        targets: this.targets,
      },
      owners: new Owners(this.assignments),
      ...changes,
    });
  }

  /** Decides once and records what is decided. */
  decide(): FleetPlan & { readonly reason: string } {
    const snapshot = this.snapshot();
    const plan = planOf(snapshot);
    this.assignments = assignmentsAfter(this.assignments, snapshot, plan);
    return { ...plan, reason: verdictOf(snapshot, plan).reason };
  }

  /** Every collector asks for its targets of every job. */
  poll(names = this.collectors.filter(({ awaySince }) => awaySince === null).map(({ name }) => name)): void {
    const jobs = new Set(this.targets.map(({ job }) => job));
    const { at: seen } = this.assignments;
    this.polls = this.polls.filter(({ collector }) => !names.includes(collector));
    for (const collector of names) for (const job of jobs) this.polls.push({ collector, job, seen, at: this.now });
  }

  /** Decides and polls every ten seconds, and returns the moves. */
  runFor(seconds: number): FleetPlan["moves"] {
    const moves: FleetPlan["moves"][number][] = [];
    for (const end = this.now + seconds * 1000; this.now < end; this.now += 10_000) {
      moves.push(...this.decide().moves);
      this.poll();
    }
    return moves;
  }

  /** Decides and polls until nothing is under way. */
  settle(): this {
    for (let round = 0; round < 100; round += 1) {
      const { moves, handingOver } = this.decide();
      if (moves.length === 0 && handingOver === 0) return this;
      this.poll();
      this.now += 20_000;
    }
    throw new Error("the fleet does not settle");
  }

  served(): Map<string, readonly string[]> {
    const owners = new Owners(this.assignments);
    return new Map(this.targets.map((target) => [target.key, owners.of(target)]));
  }

  /** Load of each collector, by owner. */
  loads(): Map<string, number> {
    const owners = new Owners(this.assignments);
    const loads = new Map(this.assignments.members.map(({ name }) => [name, 0]));
    for (const target of this.targets) {
      const owner = owners.ownerOf(target) ?? "";
      loads.set(owner, (loads.get(owner) ?? 0) + target.load);
    }
    return loads;
  }
}

export const nameOf = (ordinal: number): string => `metrics-collector-${ordinal}`;

export const targetsOf = (count: number, load: (index: number) => number = () => 1): Weighed[] =>
  Array.from({ length: count }, (_, index) => ({
    ...{ key: `app http://10.0.${index >> 8}.${index & 255}:8080/metrics`, job: "prometheus/app", interval: 10 },
    load: load(index),
  }));
