import { z } from "zod";
import { conditions } from "./condition.ts";
import { int64, timestamp } from "./field.ts";
import { defineKind, type StatusOf } from "./kind.ts";
import { parse } from "./parse.ts";

const spec = z
  .object({
    endpoint: z.string().describe("URL of the cluster's proxy for peers (its PORT2)."),
    region: z.string().describe("Region of the cluster. Set by the proxy.").exactOptional(),
    owncluster: z.boolean().describe("Whether this is the proxy's own cluster. Set by the proxy.").default(false),
  })
  .describe("A cluster that takes part.");

const nodeScore = z.object({
  name: z.string().describe("Name of the node."),
  score: int64().describe("Its predicted power, in watts."),
});

const status = z
  .object({
    score: int64().describe("The cluster's predicted power, in watts. Lower attracts more replicas.").exactOptional(),
    nodes: z.array(nodeScore).describe("The nodes the score is made of.").exactOptional(),
    updateTimestamp: timestamp().describe("When the score was taken.").exactOptional(),
    conditions: conditions().exactOptional(),
  })
  .describe("What the cluster last scored.");

export const KIND = defineKind(
  {
    service: "endpoint-proxy",
    group: "waoendpointproxy.bitmedia.co.jp",
    version: "v1beta1",
    kind: "ClusterScore",
    plural: "clusterscores",
    singular: "clusterscore",
    shortNames: [],
    scope: "Namespaced",
    description: "A cluster that replicas may be placed on, and its score.",
    printerColumns: [
      { name: "Region", type: "string", jsonPath: ".spec.region" },
      { name: "Score", type: "integer", jsonPath: ".status.score" },
      { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
    ],
  },
  { spec, status },
);

export type ClusterScore = z.output<typeof KIND.schema>;

export type ClusterScoreStatus = StatusOf<typeof KIND>;

export const parseClusterScore = (input: unknown) => parse(KIND.schema, input);
