import rules from "../../../../charts/eviction-planner/files/rules.json" with { type: "json" };
import { EVICTION_PLANNER } from "@evenkeel/api";
import type { ServiceClient } from "../reach/service-client.ts";
import { fieldsOf, listOf, textOf } from "../wire.ts";
import type { ObjectState, Registration } from "./registration.ts";

const name = "eviction-planner";

export const evictionPlannerRegistration: Registration = {
  name,
  decider: async () => (await import("@evenkeel/eviction-planner/decide")).levelDecider,
  place: { namespace: "evenkeel-system", service: name, port: "8080" },
  serviceAccount: name,
  kinds: [EVICTION_PLANNER],
  rules,
  value: "the level",
  objects: (client, namespace) => objects(client, namespace === undefined ? {} : { namespace }),
  describe: async (client, object) => {
    const [found] = await objects(client, { namespace: object.namespace ?? "", name: object.name });
    return found?.paused
      ? ["Paused: the level is not changed until the annotation evenkeel.io/paused is removed."]
      : [];
  },
};

async function objects(
  client: ServiceClient,
  query: Readonly<Record<string, string>>,
): Promise<readonly ObjectState[]> {
  return listOf(fieldsOf(await client.get("Objects/Get", query))["objects"]).map((entry) => {
    const object = fieldsOf(entry);
    const named = fieldsOf(object["name"]);
    const at = textOf(object["decidedAt"]);
    return {
      object: { kind: EVICTION_PLANNER.kind, namespace: textOf(named["namespace"]), name: textOf(named["name"]) },
      reason: textOf(object["reason"]),
      message: textOf(object["message"]),
      after: object["value"] ?? null,
      dryRun: object["dryRun"] === true,
      paused: object["paused"] === true,
      ...(at !== "" && { at }),
    };
  });
}
