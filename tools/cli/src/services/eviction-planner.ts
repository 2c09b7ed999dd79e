import rules from "../../../../charts/eviction-planner/files/rules.json" with { type: "json" };
import { REBALANCE_POLICY } from "@evenkeel/api";
import type { ServiceClient } from "../reach/service-client.ts";
import { fieldsOf, listOf, numberOf, textOf } from "../wire.ts";
import type { ObjectState, Registration } from "./registration.ts";

const name = "eviction-planner";

export const evictionPlannerRegistration: Registration = {
  name,
  decider: async () => (await import("@evenkeel/eviction-planner/decide")).policyDecider,
  place: { namespace: "evenkeel-system", service: name, port: "8080" },
  serviceAccount: name,
  kinds: [REBALANCE_POLICY],
  rules,
  value: "the planned evictions",
  objects: async (client) => (await policies(client, {})).map(({ state }) => state),
  describe: async (client, object) => {
    const [policy] = await policies(client, { name: object.name });
    return policy === undefined ? [] : sentences(policy);
  },
};

interface Policy {
  readonly state: ObjectState;
  /** The result of src/serve/plan-view.ts of the service; empty before the first plan. */
  readonly plan: Readonly<Record<string, unknown>>;
}

async function policies(client: ServiceClient, query: Readonly<Record<string, string>>): Promise<readonly Policy[]> {
  return listOf(fieldsOf(await client.get("Objects/Get", query))["objects"]).map((entry) => {
    const object = fieldsOf(entry);
    const plan = fieldsOf(object["value"]);
    const at = textOf(object["decidedAt"]);
    return {
      plan,
      state: {
        object: { kind: REBALANCE_POLICY.kind, name: textOf(fieldsOf(object["name"])["name"]) },
        reason: textOf(object["reason"]),
        message: textOf(object["message"]),
        after: numberOf(plan["moveCount"]) ?? null,
        dryRun: object["dryRun"] === true,
        paused: object["paused"] === true,
        ...(at !== "" && { at }),
      },
    };
  });
}

function sentences({ plan, state: { paused } }: Policy): readonly string[] {
  const moves = listOf(plan["moves"]).map((entry) => {
    const { pod, from, landings } = fieldsOf(entry);
    const places = listOf(landings).map((landing) => {
      const { node, probability } = fieldsOf(landing);
      return `${textOf(node)} (${Math.round((numberOf(probability) ?? 0) * 100)} %)`;
    });
    return `${textOf(pod)} would go from ${textOf(from)} to ${places.join(", ")}.`;
  });
  const stays = listOf(plan["stays"]).map((entry) => {
    const { reason, sentence, pods, example } = fieldsOf(entry);
    return `${numberOf(pods) ?? 0} stay (${textOf(reason)}), such as ${textOf(example)}: ${textOf(sentence)}.`;
  });
  const figures = ["sigma", "predicted", "lowerBound"].map((field) => numberOf(plan[field])?.toFixed(4) ?? "unknown");
  const level = `σ is ${figures[0]}, ${figures[1]} after the plan; as many evictions cannot go below ${figures[2]}.`;
  return [
    ...("sigma" in plan ? [level] : []),
    ...moves,
    ...stays,
    ...(paused ? ["Paused: no plan is made until the annotation evenkeel.io/paused is removed."] : []),
  ];
}
