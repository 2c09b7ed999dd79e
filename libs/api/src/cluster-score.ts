import { z } from "zod";
import { conditions } from "./condition.ts";
import { boundedText, double, int64, timestamp } from "./field.ts";
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
  score: int64().describe("Its predicted power, in watts; by capacity, the per mille of its CPU that is requested."),
});

const room = (what: string) =>
  z
    .object({
      cpu: int64().describe("CPU, in millicores."),
      memory: int64().describe("Memory, in bytes."),
      pods: int64().describe("Number of pods."),
    })
    .describe(what);

const status = z
  .object({
    score: int64()
      .describe(
        "The cluster's predicted power in watts, or its use of capacity; see `source`. Lower attracts more replicas.",
      )
      .exactOptional(),
    nodes: z.array(nodeScore).describe("The nodes the score is made of.").exactOptional(),
    updateTimestamp: timestamp().describe("When the score was taken, by the clock of this cluster.").exactOptional(),
    source: z
      .enum(["watts", "capacity"])
      .describe("What the score is: predicted watts, or the per mille of CPU that is requested plus `cost`.")
      .exactOptional(),
    cost: int64().describe("What the annotation evenkeel.io/cost adds to a score by capacity.").exactOptional(),
    free: room("What is not requested yet, of the nodes that accept pods.").exactOptional(),
    whole: room("What can be requested in all, of the nodes that accept pods.").exactOptional(),
    marginalWatts: double()
      .describe("Predicted watts of one more CPU, on the cheapest nodes with room for it. Absent while it is unknown.")
      .exactOptional(),
    failedNodes: int64().describe("Nodes without a prediction. They are not part of the score.").exactOptional(),
    ageSeconds: int64().describe("Age of the score when this status was written.").exactOptional(),
    latencyMilliseconds: int64().describe("Time in which a peer answered.").exactOptional(),
    serverVersion: boundedText(256).describe("Version of the cluster's API server.").exactOptional(),
    clusterUid: boundedText(256)
      .describe("The cluster's identity: the uid of its namespace kube-system.")
      .exactOptional(),
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

export type ClusterScoreSpec = ClusterScore["spec"];

export type ClusterScoreStatus = StatusOf<typeof KIND>;

export const parseClusterScore = (input: unknown) => parse(KIND.schema, input);
