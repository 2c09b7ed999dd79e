import type { BadField } from "./bad-fields.ts";

const TRACKING = "spec.policy.targettracking";
const RECORD = "spec.target.route53.resource";
const PROMETHEUS = "spec.metrics.prometheus";
const window = { startTime: "01:00", endTime: "02:00", value: 1 };

/** A field that an original's CRD leaves open and ours does not, and what that costs. */
export interface Outgrown {
  readonly kind: string;
  readonly path: string;
  /** What becomes of such an object under the original: as a rule, nothing. */
  readonly why: string;
  /**
   * Values that the original's CRD takes and ours refuses, each with a title and, if it is another, the field to blame.
   */
  readonly values: readonly (readonly [value: unknown, title: string, blamed?: string])[];
}

/**
 * Every place where a CRD is stricter than the original's. Some of what is refused did work there, and its `why` says
 * so: a base above 255, more than a hundred windows, a window that ends beyond its day, and times with seconds.
 */
export const OUTGROWN: readonly Outgrown[] = [
  {
    kind: "Rebalance",
    path: "spec.interval",
    why: "The original fails at each turn if it is no duration, and has one turn only if it is 0 or less.",
    values: [
      ["", "an empty interval"],
      ["soon", "a word for an interval"],
      ["60", "an interval without unit"],
      ["0s", "no interval at all"],
      ["-1m", "an interval into the past"],
      ["1d", "an interval in days, which Go does not know"],
      [`${"1h".repeat(32)}1s`, "too long an interval"],
    ],
  },
  {
    kind: "Rebalance",
    path: `${TRACKING}.targetValue`,
    why: "The original divides by it.",
    values: [
      [0, "a target of 0"],
      [-1000, "a target below 0"],
    ],
  },
  {
    kind: "Rebalance",
    path: `${TRACKING}.baseValue`,
    why: "No record has such a weight. The sum of several records may, and the original takes it: scale them down to 255.",
    values: [
      [-8, "a base below 0"],
      [300, "a base that no record has"],
      [1_000_001, "a base that nothing has"],
    ],
  },
  {
    kind: "Rebalance",
    path: `${TRACKING}.minimum`,
    why: "Below 0 it says nothing, and Route 53 refuses every change to a weight above 255.",
    values: [
      [-1, "a minimum below 0"],
      [300, "a minimum that no record takes"],
    ],
  },
  {
    kind: "Rebalance",
    path: `${TRACKING}.scheduled`,
    why: "The rules on windows have a budget in the API server, and a day is divided well enough by a hundred. The original takes more.",
    values: [[Array.from({ length: 101 }, () => window), "a hundred and one windows"]],
  },
  {
    kind: "Rebalance",
    path: `${TRACKING}.scheduled[0].startTime`,
    why: "The original crashes without a colon, fails on a word, never reaches a window that starts after its day, and ignores seconds.",
    values: [
      ["25:00", "a window from the 25th hour"],
      ["24:00", "a window from the end of the day"],
      ["07:60", "a window from the 60th minute"],
      ["19", "a window from an hour without minutes"],
      ["", "a window from nowhere"],
      ["09:00:00", "a window from a second"],
    ],
  },
  {
    kind: "Rebalance",
    path: `${TRACKING}.scheduled[0].endTime`,
    why: "The original crashes without a colon, ignores seconds, and ends a window at midnight whatever lies beyond; 24:00 says that.",
    values: [
      ["25:00", "a window to the 25th hour"],
      ["24:01", "a window beyond the day"],
      ["19", "a window to an hour without minutes"],
      ["tomorrow", "a word for a time"],
      ["17:00:00", "a window to a second"],
    ],
  },
  {
    kind: "Rebalance",
    path: `${TRACKING}.scheduled[0].value`,
    why: "Below 0 it says nothing, and Route 53 refuses every change to a weight above 255.",
    values: [
      [-1, "a window's weight below 0"],
      [300, "a window's weight that no record takes", `${TRACKING}.scheduled`],
    ],
  },
  {
    kind: "Rebalance",
    path: "spec.target.route53.hostedZoneID",
    why: "AWS refuses each call without it.",
    values: [["", "an empty hosted zone"]],
  },
  {
    kind: "Rebalance",
    path: `${RECORD}.name`,
    why: "No record is found.",
    values: [["", "a record without name"]],
  },
  {
    kind: "Rebalance",
    path: `${RECORD}.type`,
    why: "No record is found.",
    values: [["", "a record without type"]],
  },
  {
    kind: "Rebalance",
    path: `${RECORD}.identifier`,
    why: "Only records with a set identifier, of up to 128 characters, have a weight; without one the original crashes.",
    values: [
      [undefined, "a record without identifier"],
      ["", "a record with an empty identifier"],
      ["x".repeat(129), "too long an identifier"],
    ],
  },
  {
    kind: "Rebalance",
    path: `${PROMETHEUS}.address`,
    why: "The original fails at each turn without scheme and host.",
    values: [
      ["", "no address"],
      ["prometheus", "an address without scheme"],
      ["prometheus:9090", "a port without scheme"],
      ["http://", "an address without host"],
      ["ftp://prometheus", "an address of another protocol"],
      [`http://${"x".repeat(2048)}`, "too long an address"],
    ],
  },
  {
    kind: "Rebalance",
    path: `${PROMETHEUS}.query`,
    why: "Prometheus refuses it.",
    values: [["", "an empty query"]],
  },
  {
    kind: "Rebalance",
    path: `${PROMETHEUS}.timeout`,
    why: "The original's queries are over before they are sent; and nothing waits longer than 24 days.",
    values: [
      [0, "no time for a query"],
      [-1, "less than no time for a query"],
      [2_147_484, "more time than a timer has"],
    ],
  },
];

export const OUTGROWN_FIELDS: readonly BadField[] = OUTGROWN.flatMap(({ kind, path, values }) =>
  values.map(([value, title, blamed = path]): BadField => [kind, path, value, title, blamed]),
);
