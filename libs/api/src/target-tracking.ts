import { z } from "zod";
import { double, int64, timeOfDay, timeSpan, timeZone } from "./field.ts";
import { withRules } from "./rule.ts";

const WEEKDAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"] as const;

/** What the Gateway API takes, which has the widest range of all targets. */
const weight = () => int64().min(0).max(1_000_000);

const scheduled = z.object({
  startTime: timeOfDay().describe("First minute of the window, as HH:MM."),
  endTime: timeOfDay({ midnight: "24:00" }).describe(
    "First minute after the window, as HH:MM; 24:00 is the end of the day. Before startTime: on the next day; equal: never.",
  ),
  value: weight().describe("Minimum weight during the window."),
  days: z
    .array(z.enum(WEEKDAYS))
    .min(1)
    .max(7)
    .describe("Days on which the window begins. Absent: every day.")
    .exactOptional(),
});

const fields = z
  .object({
    targetValue: int64().min(1).describe("Upper limit of the metric that the weight aims for."),
    baseValue: weight().describe("Weight of the other record, which shares the load with the target."),
    disableScaleIn: z.boolean().describe("Never lower the weight.").exactOptional(),
    minimum: weight().describe("Minimum weight. Absent: 0.").exactOptional(),
    maximum: weight().describe("Maximum weight. Absent: the maximum of the target.").exactOptional(),
    scheduled: z.array(scheduled).max(100).describe("Time windows with a minimum weight of their own.").exactOptional(),
    timeZone: timeZone().describe("Time zone of the windows, such as Asia/Tokyo. Absent: UTC.").exactOptional(),
    scope: z
      .enum(["total", "base"])
      .describe("What the metric measures: the load of all environments, or that of the base environment alone.")
      .default("total"),
    tolerance: double()
      .min(0)
      .max(1)
      .describe(
        "Fraction of targetValue by which the load of the base may differ before the weight changes; 0.1 is 10 %.",
      )
      .exactOptional(),
    smoothing: timeSpan().describe("Time constant of the metric's moving average. Absent: none.").exactOptional(),
    maxStepUp: weight().min(1).describe("Maximum increase of the weight in one change.").exactOptional(),
    maxStepDown: weight().min(1).describe("Maximum decrease of the weight in one change.").exactOptional(),
    cooldownUp: timeSpan().describe("Minimum time from one increase to the next.").exactOptional(),
    cooldownDown: timeSpan().describe("Minimum time from any change to the next decrease.").exactOptional(),
    settle: timeSpan()
      .describe(
        "Time that a change needs to take effect; no other change is made during it. Absent: the record's TTL if scope is base, else 0.",
      )
      .exactOptional(),
    onNoData: z
      .enum(["hold", "minimum", "value"])
      .describe("If there is no metric: keep the weight, set minimum, or set noDataValue.")
      .default("hold"),
    noDataValue: weight().describe("Weight if there is no metric and onNoData is value.").exactOptional(),
  })
  .describe(
    "Weight that grows with the metric's excess over a target: ceil(baseValue × max(0, metric / targetValue − 1)).",
  );

export const targettracking = withRules(
  fields,
  {
    cel: "!has(self.minimum) || !has(self.maximum) || self.minimum <= self.maximum",
    holds: ({ minimum, maximum }) => minimum === undefined || maximum === undefined || minimum <= maximum,
    message: "expected minimum to be at most maximum",
    field: "minimum",
  },
  {
    cel: "!has(self.onNoData) || self.onNoData != 'value' || has(self.noDataValue)",
    holds: ({ onNoData, noDataValue }) => onNoData !== "value" || noDataValue !== undefined,
    message: "expected noDataValue, since onNoData is value",
    field: "noDataValue",
  },
  {
    cel: "!has(self.scope) || self.scope != 'base' || self.baseValue >= 1",
    holds: ({ scope, baseValue }) => scope !== "base" || baseValue >= 1,
    message: "expected baseValue to be at least 1, since scope is base",
    field: "baseValue",
  },
);
