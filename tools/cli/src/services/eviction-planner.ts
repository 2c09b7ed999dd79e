import rules from "../../../../charts/eviction-planner/files/rules.json" with { type: "json" };
import { REBALANCE_POLICY } from "@evenkeel/api";
import type { ServiceClient } from "../reach/service-client.ts";
import { number } from "../setting-kinds.ts";
import { fieldsOf, listOf, numberOf, textOf } from "../wire.ts";
import { type ObjectState, type Registration, whatIf } from "./registration.ts";

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
    const [policy] = await policies(client, { policy: object.name });
    return policy === undefined ? [] : sentences(policy);
  },
  foreign: {
    kinds: [{ kind: "pod", words: ["pod", "pods"] }],
    needsNamespace: true,
    ask: async (client, { namespace = "", name: pod }) => {
      const answer = fieldsOf(await client.get("Evictions/Explain", { pod: `${namespace}/${pod}` }));
      return { answer, lines: podLines(answer) };
    },
  },
  whatIf: whatIf({
    kinds: [REBALANCE_POLICY.kind],
    value: "σ",
    settings: {
      budget: number({ help: "The most evictions of a RebalancePolicy's plan, 0 to 1000" }),
      targetSigma: number({ help: "Another targetSigma of a RebalancePolicy" }),
    },
    check: ({ budget, targetSigma }) => {
      if (budget === undefined && targetSigma === undefined) return "--budget or --target-sigma is required";
      const isWhole = budget === undefined || (Number.isInteger(budget) && budget >= 0 && budget <= 1000);
      return isWhole ? undefined : "--budget must be a whole number from 0 to 1000";
    },
    supposed: ({ budget, targetSigma }) =>
      [
        ...(budget === undefined ? [] : [budget === 1 ? "1 eviction" : `${budget} evictions`]),
        ...(targetSigma === undefined ? [] : [`a targetSigma of ${targetSigma}`]),
      ].join(" and "),
    ask: async (client, object, { budget, targetSigma }) => {
      const query = {
        policy: object.name,
        ...(budget !== undefined && { budget }),
        ...(targetSigma !== undefined && { targetSigma }),
      };
      const details = fieldsOf(await client.get("Evictions/WhatIf", query));
      return {
        before: figure(details["sigma"]),
        after: figure(details["predicted"]),
        reason: textOf(details["outcome"]),
        message: textOf(details["message"]),
        details: { plan: details },
      };
    },
  }),
};

interface Policy {
  readonly state: ObjectState;
  /** `evictions.v1.Plan`; empty before the first plan. */
  readonly plan: Readonly<Record<string, unknown>>;
}

async function policies(client: ServiceClient, query: Readonly<Record<string, string>>): Promise<readonly Policy[]> {
  return listOf(fieldsOf(await client.get("Evictions/Plan", query))["plans"]).map((entry) => {
    const object = fieldsOf(entry);
    const plan = fieldsOf(object["plan"]);
    const at = textOf(object["decidedAt"]);
    return {
      plan,
      state: {
        object: { kind: REBALANCE_POLICY.kind, name: textOf(fieldsOf(object["policy"])["name"]) },
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

function figure(value: unknown): string | null {
  return numberOf(value)?.toFixed(4) ?? null;
}

/** The answer, then what each policy says. */
function podLines(answer: Readonly<Record<string, unknown>>): readonly string[] {
  const verdicts = listOf(answer["verdicts"]).flatMap((entry) => {
    const verdict = fieldsOf(entry);
    const level = numberOf(verdict["nodeLevel"]);
    const full = level === undefined ? "of unknown load" : `${(level * 100).toFixed(1)} % full`;
    const heat = verdict["nodeIsHot"] === true ? " and hot" : "";
    const holds = listOf(verdict["holds"]).map((each) => {
      const { reason, by, sentence } = fieldsOf(each);
      return `  ${textOf(reason)}${textOf(by) === "" ? "" : ` (${textOf(by)})`}: ${textOf(sentence)}.`;
    });
    return ["", `RebalancePolicy ${textOf(verdict["policy"])}: its node is ${full}${heat}.`, ...holds];
  });
  return [`${textOf(answer["message"])}.`, ...verdicts];
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
  const level = `σ is ${figures[0]}, ${figures[1]} after the plan; the lower bound for as many evictions is ${figures[2]}.`;
  return [
    ...("sigma" in plan ? [level] : []),
    ...moves,
    ...stays,
    ...(paused ? ["Paused: no plan is made until the annotation evenkeel.io/paused is removed."] : []),
  ];
}
