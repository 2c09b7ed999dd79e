import rules from "../../../../charts/scale-resolver/files/rules.json" with { type: "json" };
import { ELASTI_SERVICE } from "@evenkeel/api";
import { explain, type ObjectRef } from "@evenkeel/runtime";
import { Refused } from "../errors.ts";
import type { ServiceClient } from "../reach/service-client.ts";
import { sentence } from "../show/words.ts";
import { fieldsOf, listOf, numberOf, textOf } from "../wire.ts";
import type { ObjectState, Registration } from "./registration.ts";

const name = "scale-resolver";

export const scaleResolverRegistration: Registration = {
  name,
  decider: async () => (await import("@evenkeel/scale-resolver/decide")).stateDecider,
  place: { namespace: "evenkeel-system", service: name, port: "8080" },
  serviceAccount: name,
  kinds: [ELASTI_SERVICE],
  rules,
  value: "the state",
  objects: async (client, namespace) => (await activities(client, namespace)).map(stateOf),
  describe: async (client, { namespace, name: of }) => {
    const found = (await activities(client, namespace)).find(({ object }) => object.name === of);
    return found === undefined ? [] : [...sentences(found), ...(await whatIsNext(client, found))];
  },
};

/** resolver.v1.ServiceActivity as JSON. */
interface Activity {
  readonly object: ObjectRef;
  readonly service: string;
  readonly target: string;
  /** The state's name in decisions; empty if unknown. */
  readonly state: string;
  readonly replicas: number | undefined;
  readonly pods: { readonly ready: number; readonly leaving: number; readonly starting: number } | undefined;
  readonly pending: number;
  readonly inFlight: number;
  readonly isKnown: boolean;
  /** Which replicas do not report, in one sentence; empty if all do, or if the service is older. */
  readonly gap: string;
  /** Seconds, such as `1.8s`; empty before the first wake. */
  readonly lastWake: string;
  readonly reason: string;
  readonly message: string;
  readonly decidedAt: string;
  readonly dryRun: boolean;
  readonly paused: boolean;
}

async function activities(client: ServiceClient, namespace: string | undefined): Promise<readonly Activity[]> {
  const answer = await client.get("Resolver/Activity", namespace === undefined ? {} : { namespace });
  return listOf(fieldsOf(answer)["services"]).map((entry) => {
    const activity = fieldsOf(entry);
    const { namespace: of, name: service } = fieldsOf(activity["service"]);
    const { elastiService, target, pods, lastWake, reason, message, decidedAt, dryRun, paused } = activity;
    const { ready, leaving, starting } = fieldsOf(pods);
    return {
      object: { kind: ELASTI_SERVICE.kind, namespace: textOf(of), name: textOf(elastiService) },
      service: textOf(service),
      target: textOf(target),
      state: stateName(textOf(activity["state"])),
      replicas: numberOf(activity["replicas"]),
      pods:
        pods === undefined
          ? undefined
          : { ready: numberOf(ready) ?? 0, leaving: numberOf(leaving) ?? 0, starting: numberOf(starting) ?? 0 },
      pending: numberOf(activity["pending"]) ?? 0,
      inFlight: numberOf(activity["inFlight"]) ?? 0,
      ...{ isKnown: activity["activityUnknown"] !== true, gap: textOf(activity["activityGap"]) },
      ...{ lastWake: textOf(lastWake), reason: textOf(reason), message: textOf(message) },
      ...{ decidedAt: textOf(decidedAt), dryRun: dryRun === true, paused: paused === true },
    };
  });
}

/** STATE_ZERO is Zero in decisions. */
function stateName(state: string): string {
  const word = /^STATE_([A-Z]+)$/.exec(state)?.[1] ?? "";
  return word === "" || word === "UNSPECIFIED" ? "" : word.charAt(0) + word.slice(1).toLowerCase();
}

function stateOf({ object, state, reason, message, decidedAt, dryRun, paused }: Activity): ObjectState {
  const said = decidedAt === "" ? "no decision yet" : message;
  const after = state === "" ? null : state;
  return { object, reason, message: said, after, dryRun, paused, ...(decidedAt && { at: decidedAt }) };
}

function sentences(activity: Activity): readonly string[] {
  const { service, pods, lastWake, paused } = activity;
  return [
    replicasSentence(activity),
    pods === undefined
      ? `The pods behind the Service ${service} are unknown.`
      : `Pods behind the Service ${service}: ${pods.ready} ready, ${pods.leaving} terminating, ${pods.starting} starting.`,
    ...requestSentences(activity),
    ...(lastWake === "" ? [] : [`The last wake took ${lastWake.replace(/s$/, " s")}.`]),
    ...(paused ? ["Paused: nothing is changed until the annotation evenkeel.io/paused is removed."] : []),
  ];
}

/**
 * The resolver reads the scale only when a decision needs it, so it does not know the replicas of a service in Serve.
 */
function replicasSentence({ state, target, replicas }: Activity): string {
  if (replicas !== undefined) return `Replicas of ${target}: ${replicas}.`;
  return state === "Serve"
    ? `Replicas of ${target}: read before it is scaled to zero.`
    : `Replicas of ${target}: unknown.`;
}

/** While a replica of the resolver does not report, the sums are lower bounds. */
function requestSentences({ pending, inFlight, isKnown, gap }: Activity): readonly string[] {
  const counts = `${pending} waiting, ${inFlight} in flight`;
  if (isKnown) return [`Requests at the resolver: ${counts}.`];
  return [
    `Requests at the resolver: at least ${counts}.`,
    sentence(gap || "Some replicas of the resolver do not report their requests"),
  ];
}

/** What prevents sleep, and what it waits for. Only the leader knows. */
async function whatIsNext(client: ServiceClient, { object, service }: Activity): Promise<readonly string[]> {
  try {
    const request = { service: { namespace: object.namespace, name: service } };
    const { obstacles, waits } = fieldsOf(await client.post("Resolver/Preview", request));
    const said = (list: unknown, opening: string) =>
      listOf(list).map((entry) => {
        const { reason, message } = fieldsOf(entry);
        return `${opening} (${textOf(reason)}): ${sentence(textOf(message))}`;
      });
    return [...said(obstacles, "Kept awake"), ...said(waits, "Waiting")];
  } catch (error) {
    if (error instanceof Refused) return [`The next decision is unknown: ${explain(error)}.`];
    throw error;
  }
}
