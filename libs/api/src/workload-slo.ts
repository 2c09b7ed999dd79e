import { z } from "zod";
import { conditions } from "./condition.ts";
import { int32, stringMap, timestamp } from "./field.ts";
import { defineKind, type SpecOf, type StatusOf } from "./kind.ts";
import { parse } from "./parse.ts";

const spec = z
  .object({
    maxDisruptionsPerHour: int32().min(0).describe("Evictions allowed in the namespace in any hour.").exactOptional(),
    minReadySeconds: int32().min(0).describe("Seconds a pod must have been ready before it may go.").exactOptional(),
    allowStatefulSetEviction: z.boolean().describe("Whether pods of StatefulSets may be evicted.").exactOptional(),
    protectedLabels: stringMap()
      .describe("Labels of pods that are never evicted; one that a pod has is enough.")
      .exactOptional(),
    singleReplica: z
      .enum(["evict", "skip", "surge"])
      .describe(
        "How the only pod of a workload is moved: evicted like others, not at all, or by restarting the rollout of its Deployment so that the new pod is ready first. Absent: evict.",
      )
      .exactOptional(),
  })
  .describe("The guard rails.")
  .prefault({});

const status = z
  .object({
    disruptionsInWindow: int32().describe("Evictions in the current hour.").exactOptional(),
    windowStart: timestamp().describe("When that hour began.").exactOptional(),
    lastViolation: timestamp().describe("When an eviction was last refused for this object.").exactOptional(),
    message: z.string().describe("The state as a sentence.").exactOptional(),
    conditions: conditions().exactOptional(),
  })
  .describe("How much of the budget is used.");

export const KIND = defineKind(
  {
    service: "eviction-planner",
    group: "rebalancer.dev",
    version: "v1",
    kind: "WorkloadSLO",
    // As the original's plural has it.
    plural: "workloadsloes",
    singular: "workloadslo",
    shortNames: [],
    scope: "Namespaced",
    description: "Guard rails on the evictions in a namespace.",
    printerColumns: [
      { name: "Per Hour", type: "integer", jsonPath: ".spec.maxDisruptionsPerHour" },
      { name: "Used", type: "integer", jsonPath: ".status.disruptionsInWindow" },
      { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
    ],
  },
  { spec, status },
);

export type WorkloadSLO = z.output<typeof KIND.schema>;

export type WorkloadSLOSpec = SpecOf<typeof KIND>;

export type WorkloadSLOStatus = StatusOf<typeof KIND>;

export const parseWorkloadSLO = (input: unknown) => parse(KIND.schema, input);
