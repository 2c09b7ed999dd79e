import { ELASTI_SERVICE } from "@evenkeel/api";
import { explain, type ObjectRef } from "@evenkeel/runtime";
import { Refused } from "../errors.ts";
import type { ServiceClient } from "../reach/service-client.ts";
import { sentence } from "../show/words.ts";
import { fieldsOf, listOf, numberOf, textOf } from "../wire.ts";
import type { ObjectState, Registration } from "./registration.ts";

const name = "scale-resolver";
const { group } = ELASTI_SERVICE;

export const scaleResolverRegistration: Registration = {
  name,
  definition: async () => (await import("@evenkeel/scale-resolver")).scaleResolver,
  place: { namespace: "evenkeel-system", service: name, port: "8080" },
  serviceAccount: name,
  kinds: [ELASTI_SERVICE],
  rights: [
    {
      ...{ group, resource: "elastiservices", where: "watched" },
      verbs: ["get", "list", "watch", "create", "patch", "delete"],
    },
    { group, resource: "elastiservices/status", verbs: ["patch"], where: "watched" },
    { group: "", resource: "services", verbs: ["list", "watch", "delete"], where: "watched" },
    {
      ...{ group: "discovery.k8s.io", resource: "endpointslices", where: "watched" },
      verbs: ["get", "list", "watch", "create", "update", "delete"],
    },
    { group: "apps", resource: "deployments/scale", verbs: ["get", "patch"], where: "watched" },
    { group: "apps", resource: "statefulsets/scale", verbs: ["get", "patch"], where: "watched" },
    { group: "argoproj.io", resource: "rollouts/scale", verbs: ["get", "patch"], where: "watched" },
    { group: "apps", resource: "deployments", verbs: ["list"], where: "watched" },
    { group: "apps", resource: "statefulsets", verbs: ["list"], where: "watched" },
    { group: "argoproj.io", resource: "rollouts", verbs: ["list"], where: "watched" },
    { group: "keda.sh", resource: "scaledobjects", verbs: ["create", "patch"], where: "watched" },
    { group: "networking.istio.io", resource: "virtualservices", verbs: ["get", "patch"], where: "watched" },
    { group: "gateway.networking.k8s.io", resource: "httproutes", verbs: ["get", "patch"], where: "watched" },
    { group: "events.k8s.io", resource: "events", verbs: ["create", "patch"], where: "watched" },
    { group: "coordination.k8s.io", resource: "leases", verbs: ["create"], where: "own" },
    { group: "coordination.k8s.io", resource: "leases", verbs: ["get", "update"], name, where: "own" },
    { group: "discovery.k8s.io", resource: "endpointslices", verbs: ["list", "watch"], where: "own" },
    { group: "gateway.networking.k8s.io", resource: "referencegrants", verbs: ["list"], where: "own" },
    {
      ...{ group: "coordination.k8s.io", resource: "leases", verbs: ["list"], where: "cluster" },
      name: "acf50383.truefoundry.io",
    },
    { group: "authentication.k8s.io", resource: "tokenreviews", verbs: ["create"], where: "cluster" },
    { group: "authorization.k8s.io", resource: "subjectaccessreviews", verbs: ["create"], where: "cluster" },
  ],
  value: "the state",
  objects: async (client, namespace) => (await activities(client, namespace)).map(stateOf),
  describe: async (client, { namespace, name: of }) => {
    const found = (await activities(client, namespace)).find(({ object }) => object.name === of);
    return found === undefined ? [] : [...sentences(found), ...(await whatIsNext(client, found))];
  },
};

/** resolver.v1.ServiceActivity as its JSON has it. */
interface Activity {
  readonly object: ObjectRef;
  readonly service: string;
  readonly target: string;
  /** As a decision names it; empty while it is unknown. */
  readonly state: string;
  readonly replicas: number | undefined;
  readonly pods: { readonly ready: number; readonly leaving: number; readonly starting: number } | undefined;
  readonly pending: number;
  readonly inFlight: number;
  readonly isKnown: boolean;
  /** Who is not heard of, one sentence; empty while it is known, and of a service that does not say so. */
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

/** STATE_ZERO is what a decision calls Zero. */
function stateName(state: string): string {
  const word = /^STATE_([A-Z]+)$/.exec(state)?.[1] ?? "";
  return word === "" || word === "UNSPECIFIED" ? "" : word.charAt(0) + word.slice(1).toLowerCase();
}

function stateOf({ object, state, reason, message, decidedAt, dryRun, paused }: Activity): ObjectState {
  const said = decidedAt === "" ? "nothing was decided yet" : message;
  const after = state === "" ? null : state;
  return { object, reason, message: said, after, dryRun, paused, ...(decidedAt && { at: decidedAt }) };
}

function sentences(activity: Activity): readonly string[] {
  const { service, pods, lastWake, paused } = activity;
  return [
    replicasSentence(activity),
    pods === undefined
      ? `The pods behind the Service ${service} are unknown.`
      : `Pods behind the Service ${service}: ${pods.ready} ready, ${pods.leaving} leaving, ${pods.starting} starting.`,
    ...requestSentences(activity),
    ...(lastWake === "" ? [] : [`The last wake took ${lastWake.replace(/s$/, " s")}.`]),
    ...(paused ? ["It is paused: nothing is done until evenkeel.io/paused is removed."] : []),
  ];
}

/** A scale is read where it decides something, so that nobody knows that of a service which serves; that is no fault. */
function replicasSentence({ state, target, replicas }: Activity): string {
  if (replicas !== undefined)
    return `${counted(replicas, "replica")} of ${target} ${replicas === 1 ? "is" : "are"} asked for.`;
  return state === "Serve"
    ? `The replicas of ${target} are read when it is about to sleep.`
    : `The replicas of ${target} are unknown.`;
}

/** While a replica of the resolver is silent, what the others have is the least that there is. */
function requestSentences({ pending, inFlight, isKnown, gap }: Activity): readonly string[] {
  const waiting = `${counted(pending, "request")} ${pending === 1 ? "waits" : "wait"} at the resolver`;
  const passing = `${inFlight} ${inFlight === 1 ? "is" : "are"} on ${inFlight === 1 ? "its" : "their"} way through it`;
  if (isKnown) return [`${waiting}, and ${passing}.`];
  return [
    `How many requests wait is unknown. ${sentence(gap || "Not every replica of the resolver says what it has")}`,
    `At least ${waiting}, and ${passing}.`,
  ];
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** What keeps it awake, and what it waits for. Only the replica that leads can tell. */
async function whatIsNext(client: ServiceClient, { object, service }: Activity): Promise<readonly string[]> {
  try {
    const request = { service: { namespace: object.namespace, name: service } };
    const { obstacles, waits } = fieldsOf(await client.post("Resolver/Preview", request));
    const said = (list: unknown, opening: string) =>
      listOf(list).map((entry) => {
        const { reason, message } = fieldsOf(entry);
        return `${opening} (${textOf(reason)}): ${sentence(textOf(message))}`;
      });
    return [...said(obstacles, "It is kept awake"), ...said(waits, "It takes time")];
  } catch (error) {
    if (error instanceof Refused) return [`What is next is not known here: ${explain(error)}.`];
    throw error;
  }
}
