import rules from "../../../../charts/collector-scheduler/files/rules.json" with { type: "json" };
import { COLLECTOR_LOAD_BALANCER } from "@evenkeel/api";
import { setting } from "@evenkeel/runtime";
import type { ServiceClient } from "../reach/service-client.ts";
import { number } from "../setting-kinds.ts";
import { fieldsOf, listOf, numberOf, textOf } from "../wire.ts";
import { type ObjectState, part, type Registration, whatIf } from "./registration.ts";
import { targetLines, targetQuery } from "./target-explanation.ts";

const name = "collector-scheduler";

export const collectorSchedulerRegistration: Registration = {
  name,
  decider: async () => (await import("@evenkeel/collector-scheduler/decide")).fleetDecider,
  place: { namespace: "evenkeel-system", service: name, port: "8080" },
  serviceAccount: name,
  kinds: [COLLECTOR_LOAD_BALANCER],
  rules,
  value: "the targets",
  objects: async (client, namespace) => {
    const found = await fleets(client, namespace === undefined ? {} : { namespace });
    return found.map(({ state }) => state);
  },
  describe: async (client, object) => {
    const [fleet] = await fleets(client, { namespace: object.namespace ?? "", name: object.name });
    return fleet === undefined ? [] : sentences(fleet);
  },
  part: part({
    kind: COLLECTOR_LOAD_BALANCER.kind,
    settings: {
      target: setting.text({
        optional: true,
        help: "A target of a CollectorLoadBalancer: <address>, <namespace>/<pod> or <label>=<value>[,…]",
      }),
    },
    isAsked: ({ target }) => target !== undefined,
    ask: async (client, object, { target = "" }) => {
      const of = { namespace: object.namespace, name: object.name };
      const answer = fieldsOf(await client.post("Collectors/Explain", { ...of, ...targetQuery(target) }));
      return { answer, lines: targetLines(answer) };
    },
  }),
  whatIf: whatIf({
    kinds: [COLLECTOR_LOAD_BALANCER.kind],
    value: "the number of collectors",
    settings: { replicas: number({ help: "Number of collectors" }) },
    check: ({ replicas }) => (replicas === undefined ? "--replicas is required" : undefined),
    supposed: ({ replicas }) => `${replicas ?? ""} collectors`,
    ask: async (client, object, { replicas }) => {
      const of = { namespace: object.namespace, name: object.name };
      const details = fieldsOf(await client.post("Collectors/WhatIf", { ...of, replicas }));
      const [before, after] = ["before", "after"].map((when) => listOf(fieldsOf(details[when])["collectors"]).length);
      return { before, after, reason: "Planned", message: textOf(details["message"]), details: { plan: details } };
    },
  }),
};

interface Fleet {
  readonly state: ObjectState;
  /** The result of src/serve/fleet-view.ts of the service; empty where the asked replica does not lead. */
  readonly value: Readonly<Record<string, unknown>>;
}

async function fleets(client: ServiceClient, query: Readonly<Record<string, string>>): Promise<readonly Fleet[]> {
  return listOf(fieldsOf(await client.get("Objects/Get", query))["objects"]).map((entry) => {
    const object = fieldsOf(entry);
    const named = fieldsOf(object["name"]);
    const value = fieldsOf(object["value"]);
    const at = textOf(object["decidedAt"]);
    return {
      value,
      state: {
        object: {
          kind: COLLECTOR_LOAD_BALANCER.kind,
          namespace: textOf(named["namespace"]),
          name: textOf(named["name"]),
        },
        reason: textOf(object["reason"]),
        message: textOf(object["message"]),
        after: numberOf(value["targets"]) ?? null,
        dryRun: object["dryRun"] === true,
        paused: object["paused"] === true,
        ...(at !== "" && { at }),
      },
    };
  });
}

function sentences({ value, state: { paused } }: Fleet): readonly string[] {
  const collectors = listOf(value["collectors"]).map((entry) => {
    const collector = fieldsOf(entry);
    const notes = [
      ...(collector["away"] === true ? ["its pod is away and its targets wait"] : []),
      ...(collector["leaving"] === true ? ["it hands its targets over"] : []),
    ];
    const load = (numberOf(collector["load"]) ?? 0).toFixed(1);
    const shares = `${textOf(collector["name"])} has ${numberOf(collector["targets"]) ?? 0} targets and a load of ${load}`;
    return `${[shares, ...notes].join("; ")}.`;
  });
  const [max, min] = ["maxOverMean", "minOverMean"].map((field) => numberOf(value[field])?.toFixed(3));
  const handingOver = numberOf(value["handingOver"]) ?? 0;
  return [
    ...(max === undefined ? [] : [`Loads are between ${min} and ${max} of the mean.`]),
    ...collectors,
    ...(handingOver > 0 ? [`${handingOver} targets change their collector now.`] : []),
    ...(paused ? ["Paused: no target moves until the annotation evenkeel.io/paused is removed."] : []),
  ];
}
