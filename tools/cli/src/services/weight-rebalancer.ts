import rules from "../../../../charts/weight-rebalancer/files/rules.json" with { type: "json" };
import { REBALANCE } from "@evenkeel/api";
import type { ObjectRef } from "@evenkeel/runtime";
import type { ServiceClient } from "../reach/service-client.ts";
import { instant, number } from "../setting-kinds.ts";
import { fieldsOf, listOf, numberOf, textOf } from "../wire.ts";
import { type ObjectState, type Registration, whatIf } from "./registration.ts";

const name = "weight-rebalancer";

export const weightRebalancerRegistration: Registration = {
  name,
  decider: async () => (await import("@evenkeel/weight-rebalancer/decide")).weightDecider,
  place: { namespace: "evenkeel-system", service: name, port: "8080" },
  serviceAccount: name,
  kinds: [REBALANCE],
  rules,
  value: "the weight",
  objects: async (client, namespace) =>
    (await weights(client, namespace === undefined ? {} : { namespace })).map(stateOf),
  describe: async (client, { namespace = "", name: of }) => {
    const [weight] = await weights(client, { namespace, name: of });
    return weight === undefined ? [] : sentences(weight);
  },
  whatIf: whatIf({
    kinds: [REBALANCE.kind],
    settings: {
      metric: number({ help: "Value of the metric" }),
      at: instant({ help: "Time of the decision, for schedules (default: now)" }),
    },
    check: ({ metric }) => (metric === undefined ? "--metric is required" : undefined),
    supposed: ({ metric, at }) =>
      `metric ${metric ?? ""}${at === undefined ? "" : ` at ${new Date(at).toISOString()}`}`,
    ask: async (client, object, { metric, at }) => {
      const rebalance = { namespace: object.namespace, name: object.name };
      const request = { rebalance, metric, ...(at === undefined ? {} : { at: new Date(at).toISOString() }) };
      const { before, after, reason, message } = fieldsOf(await client.post("Weights/Preview", request));
      return {
        before: numberOf(before) ?? null,
        after: numberOf(after) ?? null,
        reason: textOf(reason),
        message: textOf(message),
      };
    },
  }),
};

/** weights.v1.Weight as JSON. */
interface Weight {
  readonly object: ObjectRef;
  readonly metric: number | undefined;
  readonly targetValue: number | undefined;
  readonly desired: number | undefined;
  readonly targets: readonly {
    readonly name: string;
    readonly actual: number | undefined;
    readonly share: number | undefined;
  }[];
  readonly reason: string;
  readonly message: string;
  readonly decidedAt: string;
  readonly dryRun: boolean;
  readonly paused: boolean;
}

async function weights(client: ServiceClient, query: Readonly<Record<string, string>>): Promise<readonly Weight[]> {
  return listOf(fieldsOf(await client.get("Weights/Get", query))["weights"]).map((entry) => {
    const weight = fieldsOf(entry);
    const { namespace, name: of } = fieldsOf(weight["rebalance"]);
    return {
      object: { kind: REBALANCE.kind, namespace: textOf(namespace), name: textOf(of) },
      metric: numberOf(weight["metric"]),
      targetValue: numberOf(weight["targetValue"]),
      desired: numberOf(weight["desired"]),
      targets: listOf(weight["targets"]).map((target) => {
        const { name: place, actual, share } = fieldsOf(target);
        return { name: textOf(place), actual: numberOf(actual), share: numberOf(share) };
      }),
      reason: textOf(weight["reason"]),
      message: textOf(weight["message"]),
      decidedAt: textOf(weight["decidedAt"]),
      dryRun: weight["dryRun"] === true,
      paused: weight["paused"] === true,
    };
  });
}

function stateOf({ object, reason, message, desired, decidedAt, dryRun, paused }: Weight): ObjectState {
  const said = decidedAt === "" ? "no decision yet" : message;
  return { object, reason, message: said, after: desired ?? null, dryRun, paused, ...(decidedAt && { at: decidedAt }) };
}

function sentences({ metric, targetValue, targets, paused }: Weight): readonly string[] {
  const goal = `the target is ${targetValue ?? "unknown"}`;
  return [
    metric === undefined ? `The metric is unknown; ${goal}.` : `The metric is ${figure(metric)}; ${goal}.`,
    ...targets.map(({ name: place, actual, share }) => {
      const part = share === undefined ? "" : `, ${Math.round(share * 1000) / 10} % of the traffic`;
      return actual === undefined ? `The weight of ${place} is unknown.` : `${place} has the weight ${actual}${part}.`;
    }),
    ...(paused ? ["Paused: no weight is written until the annotation evenkeel.io/paused is removed."] : []),
  ];
}

/** At most six digits, as in the service's own messages. */
function figure(value: number): string {
  return String(Number(value.toPrecision(6)));
}
