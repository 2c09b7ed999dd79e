import { z } from "zod";
import { conditions } from "./condition.ts";
import { int64, period, timestamp } from "./field.ts";
import { defineKind, type StatusOf } from "./kind.ts";
import { metricSource } from "./metric-source.ts";
import { parse } from "./parse.ts";
import { exactlyOneOf, type Rule, withRules } from "./rule.ts";
import { targettracking } from "./target-tracking.ts";
import { weightTarget } from "./weight-target.ts";

/** The greatest weight of a record in Route 53. */
const ROUTE53_GREATEST = 255;

const fields = z
  .object({
    interval: period().describe("Time between two adjustments, such as 1m. Absent: 1m.").exactOptional(),
    dryRun: z.boolean().describe("Compute the weight and do not write it.").default(false),
    suspend: z.boolean().describe("Stop adjusting until this is false again.").exactOptional(),
    policy: exactlyOneOf({ targettracking }).describe("How the weight follows the metric."),
    target: weightTarget().describe("What the weight is written to. Either this or `targets`.").exactOptional(),
    targets: z
      .array(weightTarget())
      .min(1)
      .max(16)
      .describe("Several places that the same weight is written to, instead of `target`.")
      .exactOptional(),
    metrics: metricSource().describe("What the weight follows. Either this or `metricSources`.").exactOptional(),
    metricSources: z
      .array(metricSource())
      .min(1)
      .max(16)
      .describe("Several metrics that the weight follows, instead of `metrics`.")
      .exactOptional(),
    combine: z.enum(["max", "min", "avg"]).describe("How the values of `metricSources` are combined.").default("max"),
    onExternalChange: z
      .enum(["enforce", "yield"])
      .describe("If another client changes the weight: restore it, or leave it until spec changes.")
      .default("enforce"),
    onDelete: z
      .enum(["keep", "revert"])
      .describe("When this object is deleted: keep the weight, or restore the one before the first change.")
      .default("keep"),
  })
  .describe("The target, the metric and the policy.");

type Spec = z.output<typeof fields>;

const spec = withRules(
  fields,
  eitherOr("target", "targets"),
  eitherOr("metrics", "metricSources"),
  fitsRoute53("baseValue"),
  fitsRoute53("minimum"),
  fitsRoute53("maximum"),
  fitsRoute53("noDataValue"),
  {
    cel: `${withoutRoute53()} || ${withoutField("scheduled")} || self.policy.targettracking.scheduled.all(window, window.value <= ${ROUTE53_GREATEST})`,
    holds: (value) =>
      !writesRoute53(value) ||
      (value.policy.targettracking?.scheduled ?? []).every((window) => window.value <= ROUTE53_GREATEST),
    message: `expected every value to be at most ${ROUTE53_GREATEST}, the greatest weight of a record in Route 53`,
    field: "policy.targettracking.scheduled",
  },
);

function eitherOr(one: "target" | "metrics", several: "targets" | "metricSources"): Rule<Spec> {
  return {
    cel: `has(self.${one}) != has(self.${several})`,
    holds: (value) => (value[one] === undefined) !== (value[several] === undefined),
    message: `exactly one of ${one}, ${several} must be set`,
    field: one,
  };
}

function fitsRoute53(name: "baseValue" | "minimum" | "maximum" | "noDataValue"): Rule<Spec> {
  return {
    cel: `${withoutRoute53()} || ${withoutField(name)} || self.policy.targettracking.${name} <= ${ROUTE53_GREATEST}`,
    holds: (value) => !writesRoute53(value) || (value.policy.targettracking?.[name] ?? 0) <= ROUTE53_GREATEST,
    message: `expected at most ${ROUTE53_GREATEST}, the greatest weight of a record in Route 53`,
    field: `policy.targettracking.${name}`,
  };
}

function writesRoute53({ target, targets = [] }: Spec): boolean {
  return target?.route53 !== undefined || targets.some(({ route53 }) => route53 !== undefined);
}

/** The opposite of writesRoute53, as CEL. */
function withoutRoute53(): string {
  const none = "(!has(self.target) || !has(self.target.route53))";
  const noneOfSeveral = "(!has(self.targets) || self.targets.all(each, !has(each.route53)))";
  return `(${none} && ${noneOfSeveral})`;
}

function withoutField(name: string): string {
  return `!has(self.policy.targettracking) || !has(self.policy.targettracking.${name})`;
}

const status = z
  .object({
    condition: z.string().describe("Healty [sic], Unhealthy or Error."),
    actualValue: int64().describe("Weight read from the target.").exactOptional(),
    desiredValue: int64().describe("Weight last computed.").exactOptional(),
    lastUpdateAt: z.string().describe("When this status was written, in RFC 3339.").exactOptional(),
    initialWeights: z
      .array(
        z.object({
          target: z.string().describe("Name of the target, as in messages."),
          weight: int64().describe("Its weight before the first change."),
          spec: weightTarget()
            .describe(
              "The target as spec had it at the last change. It is reverted with this after spec names another.",
            )
            .exactOptional(),
        }),
      )
      .max(32)
      .describe(
        "Weights of the targets before the first change. onDelete: revert restores them, also when spec names another target.",
      )
      .exactOptional(),
    lastWrite: z
      .object({
        weight: int64().describe("The weight that was last written. Absent: unknown.").exactOptional(),
        changedAt: timestamp().describe("When the weight last changed.").exactOptional(),
        raisedAt: timestamp().describe("When the weight was last raised.").exactOptional(),
        generation: int64()
          .describe("Generation of spec up to which a change by another client is left alone.")
          .exactOptional(),
        unwritten: z
          .array(z.string())
          .max(16)
          .describe("Targets that did not accept the weight while others did.")
          .exactOptional(),
      })
      .describe("What cooldowns, settling and onExternalChange depend on after the pod is replaced.")
      .exactOptional(),
    conditions: conditions().exactOptional(),
  })
  .describe("Result of the last adjustment.");

export const KIND = defineKind(
  {
    service: "weight-rebalancer",
    group: "rebalancer.ch1aki.github.io",
    version: "v1",
    kind: "Rebalance",
    plural: "rebalances",
    singular: "rebalance",
    shortNames: [],
    scope: "Namespaced",
    description: "A weight that follows a metric.",
    printerColumns: [
      { name: "Last Update", type: "date", jsonPath: ".status.lastUpdateAt" },
      { name: "Condition", type: "string", jsonPath: ".status.condition" },
      { name: "Dry Run", type: "boolean", jsonPath: ".spec.dryRun", priority: 10 },
      { name: "Desired", type: "integer", jsonPath: ".status.desiredValue", priority: 10 },
      { name: "Actual", type: "integer", jsonPath: ".status.actualValue", priority: 10 },
    ],
  },
  { spec, status },
);

export type Rebalance = z.output<typeof KIND.schema>;

export type RebalanceStatus = StatusOf<typeof KIND>;

export const parseRebalance = (input: unknown) => parse(KIND.schema, input);
