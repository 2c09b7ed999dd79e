import rules from "../../../../charts/endpoint-proxy/files/rules.json" with { type: "json" };
import { CLUSTER_SCORE } from "@evenkeel/api";
import { objectKey } from "@evenkeel/runtime";
import type { ServiceClient } from "../reach/service-client.ts";
import { number } from "../setting-kinds.ts";
import { fieldsOf, listOf, numberOf, textOf } from "../wire.ts";
import { partsText, placementLines } from "./placement-explanation.ts";
import { type ObjectState, type Registration, whatIf } from "./registration.ts";

const name = "endpoint-proxy";

export const endpointProxyRegistration: Registration = {
  name,
  decider: async () => (await import("@evenkeel/endpoint-proxy/decide")).proxyDecider,
  place: { namespace: "wao-system", service: name, port: "8080" },
  serviceAccount: name,
  kinds: [CLUSTER_SCORE],
  rules,
  value: "the standing",
  objects: async (client, namespace) => {
    const found = await clusters(client, namespace === undefined ? {} : { namespace });
    return found.map(({ state }) => state);
  },
  describe: async (client, object) => {
    const [cluster] = await clusters(client, { namespace: object.namespace ?? "", name: object.name });
    return cluster === undefined ? [] : sentences(cluster);
  },
  foreign: {
    kinds: [
      { kind: "Deployment", words: ["deployment", "deployments", "deploy", "deployments.apps", "deployment.apps"] },
      { kind: "StatefulSet", words: ["statefulset", "statefulsets", "sts", "statefulsets.apps", "statefulset.apps"] },
    ],
    ask: async (client, object) => {
      const answer = fieldsOf(await client.get("Placements/Explain", { workload: objectKey(object) }));
      return { answer, lines: placementLines(answer) };
    },
  },
  whatIf: whatIf({
    kinds: ["Deployment", "StatefulSet"],
    value: "the placement",
    settings: { replicas: number({ help: "Replicas of a workload in all clusters, or number of collectors" }) },
    check: ({ replicas }) => (replicas === undefined ? "--replicas is required" : undefined),
    supposed: ({ replicas }) => (replicas === 1 ? "1 replica" : `${replicas ?? ""} replicas`),
    ask: async (client, object, { replicas }) => {
      const query = { workload: objectKey(object), ...(replicas !== undefined && { replicas }) };
      const details = fieldsOf(await client.get("Placements/Preview", query));
      return {
        ...{ before: partsText(details["parts"], "before"), after: partsText(details["parts"], "after") },
        ...{ reason: textOf(details["reason"]), message: textOf(details["message"]), details: { placement: details } },
      };
    },
  }),
};

interface Cluster {
  readonly state: ObjectState;
  /** `scores.v1.ClusterScore` in JSON. */
  readonly fields: Readonly<Record<string, unknown>>;
}

async function clusters(client: ServiceClient, query: Readonly<Record<string, string>>): Promise<readonly Cluster[]> {
  return listOf(fieldsOf(await client.get("ClusterScores/Get", query))["clusters"]).map((entry) => {
    const fields = fieldsOf(entry);
    const named = fieldsOf(fields["name"]);
    const at = textOf(fields["decidedAt"]);
    return {
      fields,
      state: {
        object: { kind: CLUSTER_SCORE.kind, namespace: textOf(named["namespace"]), name: textOf(named["name"]) },
        reason: textOf(fields["reason"]),
        message: textOf(fields["message"]),
        after: textOf(fields["standing"]),
        dryRun: fields["dryRun"] === true,
        paused: fields["paused"] === true,
        ...(at !== "" && { at }),
      },
    };
  });
}

function sentences({ fields }: Cluster): readonly string[] {
  const isOwn = fields["own"] === true;
  const region = textOf(fields["region"]);
  const nodes = listOf(fields["nodes"]).length;
  const failed = Number(textOf(fields["failedNodes"]) || 0);
  const latency = numberOf(fields["latencySeconds"]);
  return [
    `${isOwn ? "The own cluster" : `A peer at ${textOf(fields["endpoint"])}`}${region === "" ? "" : `, in region ${region}`}.`,
    ...scoreSentences(fields),
    ...(nodes > 0
      ? [
          `Its score is of ${nodes} ${nodes === 1 ? "node" : "nodes"}${failed > 0 ? `; ${failed} without a prediction` : ""}.`,
        ]
      : []),
    ...roomSentences(fields),
    ...(latency === undefined ? [] : [`It answered in ${Math.round(latency * 1000)} ms.`]),
    ...(fields["paused"] === true
      ? ["Paused: no replicas are placed there until the annotation evenkeel.io/paused is removed."]
      : []),
  ];
}

function scoreSentences(fields: Cluster["fields"]): readonly string[] {
  const score = textOf(fields["score"]);
  if (score === "") return ["Its score is unknown."];
  const unit = (source: string) => (source === "watts" ? "W" : "per mille of CPU requested");
  const [source, ownSource] = [textOf(fields["source"]), textOf(fields["ownSource"])];
  const age = Math.round(numberOf(fields["ageSeconds"]) ?? 0);
  const marginal = numberOf(fields["marginalWatts"]);
  return [
    `Its score is ${score} ${unit(source)}, ${age}s old. Lower attracts more replicas.`,
    ...(source === ownSource
      ? []
      : [`It scored itself ${textOf(fields["ownScore"])} ${unit(ownSource)}; members are compared by capacity.`]),
    ...(marginal === undefined ? [] : [`One more CPU takes ${marginal.toFixed(1)} W on its cheapest nodes.`]),
  ];
}

function roomSentences(fields: Cluster["fields"]): readonly string[] {
  const [free, whole] = [fieldsOf(fields["free"]), fieldsOf(fields["whole"])];
  if (textOf(whole["cpu"]) === "") return [];
  const cores = (room: typeof free) => (Number(textOf(room["cpu"])) / 1000).toFixed(1);
  const gib = (room: typeof free) => (Number(textOf(room["memory"])) / 2 ** 30).toFixed(1);
  return [
    `Free: ${cores(free)} of ${cores(whole)} CPU, ${gib(free)} of ${gib(whole)} GiB, ${textOf(free["pods"])} of ${textOf(whole["pods"])} pods.`,
  ];
}
