import { z } from "zod";
import { conditions } from "./condition.ts";
import { int32, timestamp } from "./field.ts";
import { defineKind, type SpecOf, type StatusOf } from "./kind.ts";
import { selectorFields } from "./label-selector.ts";
import { parse } from "./parse.ts";

const spec = z
  .object({
    ...selectorFields(),
    preferredFor: z.array(z.string()).describe("Kinds of work these nodes suit, such as cpu-bound.").exactOptional(),
    weight: int32().describe("How strongly they are preferred.").exactOptional(),
  })
  .describe("Which nodes belong, and what they suit.")
  .prefault({});

const status = z
  .object({
    nodeCount: int32().describe("Nodes that belong.").exactOptional(),
    lastSync: timestamp().describe("When they were counted.").exactOptional(),
    conditions: conditions().exactOptional(),
  })
  .describe("Which nodes were found.");

export const KIND = defineKind(
  {
    service: "eviction-planner",
    group: "rebalancer.dev",
    version: "v1",
    kind: "NodeClass",
    plural: "nodeclasses",
    singular: "nodeclass",
    shortNames: [],
    scope: "Cluster",
    description: "Nodes that are alike, by their labels.",
    printerColumns: [
      { name: "Nodes", type: "integer", jsonPath: ".status.nodeCount" },
      { name: "Weight", type: "integer", jsonPath: ".spec.weight" },
      { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
    ],
  },
  { spec, status },
);

export type NodeClass = z.output<typeof KIND.schema>;

export type NodeClassSpec = SpecOf<typeof KIND>;

export type NodeClassStatus = StatusOf<typeof KIND>;

export const parseNodeClass = (input: unknown) => parse(KIND.schema, input);
