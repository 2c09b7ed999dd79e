import { z } from "zod";
import { conditions } from "./condition.ts";
import { int32, stringMap, timestamp } from "./field.ts";
import { defineKind, type StatusOf } from "./kind.ts";
import { parse } from "./parse.ts";

const spec = z
  .object({
    maxDisruptionsPerHour: int32().min(0).describe("Evictions allowed in the namespace in any hour.").exactOptional(),
    minReadySeconds: int32().min(0).describe("Seconds a pod must have been ready before it may go.").exactOptional(),
    allowStatefulSetEviction: z.boolean().describe("Whether pods of StatefulSets may be evicted.").exactOptional(),
    protectedLabels: stringMap().describe("Labels of pods that are never evicted.").exactOptional(),
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
    printerColumns: [],
  },
  { spec, status },
);

export type WorkloadSLO = z.output<typeof KIND.schema>;

export type WorkloadSLOStatus = StatusOf<typeof KIND>;

export const parseWorkloadSLO = (input: unknown) => parse(KIND.schema, input);
