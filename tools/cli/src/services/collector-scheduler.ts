import rules from "../../../../charts/collector-scheduler/files/rules.json" with { type: "json" };
import { COLLECTOR_LOAD_BALANCER } from "@evenkeel/api";
import type { ServiceClient } from "../reach/service-client.ts";
import { fieldsOf, listOf, numberOf, textOf } from "../wire.ts";
import type { ObjectState, Registration } from "./registration.ts";

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
