import {
  type Assignments,
  assignmentsAfter,
  type Collector,
  NO_ASSIGNMENTS,
  Owners,
  planOf,
  snapshotOf,
  type Weighed,
} from "@evenkeel/collector-scheduler/decide";
import { barred, figure, type Result } from "../result.ts";
import { SHAPES } from "./load-shapes.ts";

const ZONES = ["a", "b", "c"] as const;
const COUNT = 30_000;

/** Three zones with three collectors each, then one more in the first, as the leader decides with `pool: zone`. */
export function zoneFigures(): readonly Result[] {
  const targets = SHAPES.lognormal(COUNT).map((load, index): Weighed => {
    const key = `app http://10.${index >> 16}.${(index >> 8) & 255}.${index & 255}:8080/metrics`;
    return { key, job: "prometheus/app", interval: 60, load, zone: zoneOf(index) };
  });
  const before = new Owners(decided(NO_ASSIGNMENTS, targets, 9));
  const after = new Owners(decided(before.assignments, targets, 10));
  const zones = new Map(after.assignments.members.map(({ name, zone = "" }) => [name, zone]));
  const loads = new Map(Array.from(zones.keys(), (name) => [name, 0]));
  let [crossing, moved, elsewhere] = [0, 0, 0];
  for (const target of targets) {
    const owner = after.ownerOf(target) ?? "";
    loads.set(owner, (loads.get(owner) ?? 0) + target.load);
    if (zones.get(owner) !== target.zone) crossing += target.load;
    if (owner === before.ownerOf(target)) continue;
    moved += target.load;
    if (target.zone !== "a") elsewhere += target.load;
  }
  const total = targets.reduce((sum, { load }) => sum + load, 0);
  const distances = ZONES.map((zone) => {
    const own = [...loads].filter(([name]) => zones.get(name) === zone).map(([, load]) => load);
    const mean = own.reduce((sum, load) => sum + load, 0) / own.length;
    return Math.max(...own.map((load) => Math.abs(load / mean - 1)));
  });
  return [
    barred("three zones: load scraped from another zone", (100 * crossing) / total, "%", "<= 0"),
    barred("three zones: farthest from the mean of its zone", 100 * Math.max(...distances), "%", "<= 5.01"),
    figure("three zones: load moved to the new collector", (100 * moved) / total, "%"),
    barred("three zones: load moved in the other two", elsewhere, "", "<= 0"),
  ];
}

const zoneOf = (index: number) => ZONES[index % ZONES.length] ?? "a";

/** What is in force after one decision about `count` ready collectors; those above it are not wanted. */
function decided(assignments: Assignments, targets: readonly Weighed[], count: number): Assignments {
  const collectors = Array.from({ length: count }, (_, ordinal): Collector => {
    return { name: `metrics-collector-${ordinal}`, ordinal, zone: zoneOf(ordinal), awaySince: null };
  });
  const snapshot = snapshotOf({
    ...{
      at: "2026-01-01T00:00:00Z",
      namespace: "telemetry",
      name: "metrics",
      paused: false,
      dryRun: false,
      stop: null,
    },
    settings: {
      ...{ pool: "zone", fallback: "any", seatGrace: 120_000, movesPerMinute: null, cooldown: 0 },
      ...{ handOver: "overlap", handOverJobs: null },
    },
    scale: { present: count, replicas: count, scaler: null },
    restart: { policy: "wait", outdated: [], partition: null },
    ...{ targetCount: targets.length, loadFault: null, collectors, drain: [], polls: [], targets },
    owners: new Owners(assignments),
  });
  return assignmentsAfter(assignments, snapshot, planOf(snapshot));
}
