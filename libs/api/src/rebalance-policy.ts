import { z } from "zod";
import { conditions } from "./condition.ts";
import { double, duration, int64, integer, timestamp } from "./field.ts";
import { defineKind, type SpecOf, type StatusOf } from "./kind.ts";
import { labelSelector } from "./label-selector.ts";
import { parse } from "./parse.ts";

const ratio = () => double().min(0).max(1);

const spec = z
  .object({
    targetVariance: ratio()
      .describe("Variance of node utilisation at which balancing stops, once no node is hot.")
      .default(0.15),
    targetSigma: ratio()
      .describe(
        "Standard deviation of node utilisation at which balancing stops. It replaces targetVariance, and every node above the mean is then relieved, not only hot ones.",
      )
      .exactOptional(),
    hotThreshold: ratio().describe("Utilisation from which a node is hot.").default(0.8),
    coldThreshold: ratio().describe("Utilisation up to which a node is cold.").default(0.5),
    hysteresis: double()
      .min(0)
      .max(0.2)
      .describe("How far a node must come back before its class changes.")
      .default(0.05),
    maxEvictionsPerMinute: integer().min(0).describe("Evictions allowed in any minute.").default(3),
    namespaces: z
      .object({
        include: z.array(z.string()).describe("Namespaces to balance; * is every one.").exactOptional(),
        exclude: z.array(z.string()).describe("Namespaces to leave alone, whatever `include` says.").exactOptional(),
      })
      .describe("Whose pods may be evicted.")
      .exactOptional(),
    workloadSelectors: z
      .array(labelSelector())
      .describe("Labels of the pods that may be evicted; one selector that matches is enough.")
      .exactOptional(),
    resourceWeights: z
      .object({
        cpu: double().describe("Weight of CPU utilisation.").exactOptional(),
        memory: double().describe("Weight of memory utilisation.").exactOptional(),
      })
      .describe("How a node's utilisation is made of its resources'.")
      .default({ cpu: 0.7, memory: 0.3 }),
    basis: z
      .enum(["usage", "requests"])
      .describe("What makes a node's load: what its pods use, or what they request.")
      .default("usage"),
    respectPodPriority: z
      .boolean()
      .describe("Move pods of low priority first. Critical pods (2,000,000,000 and more) are never moved.")
      .default(true),
    respectPDB: z.boolean().describe("Leave pods alone whose disruption budget is used up.").default(true),
    dryRun: z.boolean().describe("Plan and evict nothing.").default(true),
    backoffDuration: duration().describe("Time a workload is left alone after an eviction.").default("15m"),
    maxEvictionsPerNamespace: integer()
      .min(0)
      .describe("Evictions allowed per namespace in one plan. Absent: no limit.")
      .exactOptional(),
    nodeClassPreference: z
      .array(z.string())
      .describe("NodeClasses whose nodes are preferred, each by its weight. The order does not matter.")
      .exactOptional(),
  })
  .describe("When to evict, whom, and how much at most.")
  .prefault({});

const plan = z.object({
  hotNodes: integer().describe("Nodes above the hot threshold.").exactOptional(),
  coldNodes: integer().describe("Nodes below the cold threshold.").exactOptional(),
  variance: double().describe("Variance of node utilisation when the plan was made.").exactOptional(),
  sigma: double().describe("Standard deviation of node utilisation when the plan was made.").exactOptional(),
  predicted: double().describe("Standard deviation that is expected after the plan.").exactOptional(),
  lowerBound: double()
    .describe("No choice of as many evictions brings the standard deviation below this.")
    .exactOptional(),
  evictionsPlanned: integer().describe("Evictions in the plan.").exactOptional(),
  evictionsExecuted: integer().describe("Evictions done of it.").exactOptional(),
  lastExecutionTime: timestamp().describe("When the plan was carried out.").exactOptional(),
  dryRun: z.boolean().describe("Whether it was a dry run.").exactOptional(),
  blocked: z
    .record(z.string(), integer())
    .describe("Pods of hot nodes that stay, counted by the reason.")
    .exactOptional(),
  message: z.string().describe("The outcome as a sentence.").exactOptional(),
});

const status = z
  .object({
    observedGeneration: int64().describe("The metadata.generation the plan was made from.").exactOptional(),
    plan: plan.describe("The last plan.").exactOptional(),
    conditions: conditions().exactOptional(),
  })
  .describe("What the last plan came to.");

export const KIND = defineKind(
  {
    service: "eviction-planner",
    group: "rebalancer.dev",
    version: "v1",
    kind: "RebalancePolicy",
    plural: "rebalancepolicies",
    singular: "rebalancepolicy",
    shortNames: ["rbpol"],
    scope: "Cluster",
    description: "When and how pods are evicted to level the load of nodes.",
    printerColumns: [
      { name: "Dry Run", type: "boolean", jsonPath: ".spec.dryRun" },
      { name: "Hot", type: "integer", jsonPath: ".status.plan.hotNodes" },
      { name: "Sigma", type: "number", jsonPath: ".status.plan.sigma" },
      { name: "Predicted", type: "number", jsonPath: ".status.plan.predicted" },
      { name: "Bound", type: "number", jsonPath: ".status.plan.lowerBound", priority: 1 },
      { name: "Planned", type: "integer", jsonPath: ".status.plan.evictionsPlanned" },
      { name: "Ready", type: "string", jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
      { name: "Reason", type: "string", jsonPath: '.status.conditions[?(@.type=="Ready")].reason' },
      { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
    ],
  },
  { spec, status },
);

export type RebalancePolicy = z.output<typeof KIND.schema>;

/** With the defaults filled in. */
export type RebalancePolicySpec = SpecOf<typeof KIND>;

export type RebalancePolicyStatus = StatusOf<typeof KIND>;

export const parseRebalancePolicy = (input: unknown) => parse(KIND.schema, input);
