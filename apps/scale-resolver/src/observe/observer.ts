import type { Service } from "@evenkeel/kube";
import { type Clock, explain } from "@evenkeel/runtime";
import { type Binding, serviceKey, type TargetRef } from "../binding.ts";
import type { Activity, Blockage, Path, Pods, ServiceSnapshot, TriggerReading } from "../decide/snapshot.ts";
import type { Stage, State } from "../decide/state.ts";
import type { StoredElastiService } from "../elasti-service-resource.ts";
import { PAUSED } from "@evenkeel/kube";
import type { ClusterView } from "./cluster-view.ts";
import { isWithin } from "./enabled-period.ts";
import { type Idleness, idleSince } from "./idle-since.ts";
import { nextProbeAt, type ProbeRound } from "./probe-rounds.ts";
import { type Memory, stageFound } from "./stages.ts";

export interface ObserverOptions {
  readonly view: Pick<ClusterView, "services" | "pods">;
  /** What the workload is set to. */
  readonly replicas: (namespace: string, target: TargetRef, signal: AbortSignal) => Promise<number>;
  readonly triggers: (binding: Binding, signal: AbortSignal) => Promise<readonly TriggerReading[]>;
  /** Of all replicas of the resolver together; null while one of them is not heard of. */
  readonly activity: (key: string) => Promise<Activity | null>;
  /** Why the original must be taken for running; undefined if it does not run. */
  readonly original: (signal: AbortSignal) => Promise<string | undefined>;
  /** How many resolvers are ready to take requests. */
  readonly resolvers: () => number;
  /** Families of a Service in which none of them is reached. */
  readonly unreached: (service: Service) => NonNullable<Path["unreached"]>;
  /** How many ports for a Service this replica could not listen on. */
  readonly unbound: (key: string) => number;
  readonly drainPrepared: (namespace: string, service: string) => boolean;
  /** Proves that the resolver is in a Service's path, in one round of probes; undefined: that is taken for granted. */
  readonly prove: ((service: Service, round: ProbeRound, signal: AbortSignal) => Promise<boolean>) | undefined;
  readonly clock: Clock;
  readonly settle: number;
}

export interface Subject {
  readonly object: StoredElastiService;
  readonly binding: Binding;
  /** Why what is in force is not what the spec says. */
  readonly fault: string | undefined;
  /** Why the workload can never be scaled. */
  readonly targetFault?: string | undefined;
  readonly memory: Memory | undefined;
  /** Whether the resolver's own EndpointSlices are there. */
  readonly joined: boolean;
}

/** Looks at one service and writes down all that its next state depends on. What is not needed is not asked for. */
export class Observer {
  readonly #options: ObserverOptions;

  constructor(options: ObserverOptions) {
    this.#options = options;
  }

  async observe(subject: Subject, signal: AbortSignal): Promise<ServiceSnapshot> {
    const { view, clock, settle, drainPrepared } = this.#options;
    const { object, binding, fault: specFault, targetFault, memory, joined } = subject;
    const { namespace, name, generation, service: serviceName } = binding;
    const key = serviceKey(namespace, serviceName);
    const service = view.services.get(key);
    const pods = service ? view.pods(key) : null;
    const serving = pods ? pods.ready + pods.leaving : null;

    // The scale is read where it decides something: when nothing serves, and before it is set to zero.
    const asksScale = serving === 0 || memory?.stage.state === "Zero" || isFallingAsleep(memory?.stage);
    const { replicas, ...fault } = asksScale ? await this.#replicas(binding, signal) : { replicas: null };
    const stage = memory?.stage ?? stageFound({ joined, pods, replicas, now: clock.now() });
    const original = await this.#options.original(signal);
    // A pod that leaves is not kept waiting by a metric server.
    const asksTriggers = stage.state === "Zero" || (pods !== null && pods.ready > 0 && stage.state !== "Wake");
    const triggers = asksTriggers ? await this.#options.triggers(binding, signal) : [];
    const provenAt = await this.#provenAt(subject, stage, service, pods, signal);
    const activity = await this.#options.activity(key);
    const now = clock.now();
    const idleness = idlenessOf(object, memory);

    return {
      at: new Date(now).toISOString(),
      elastiService: { namespace, name, generation },
      service: serviceName,
      policy: {
        minReplicas: binding.minReplicas,
        cooldown: binding.cooldown,
        quiet: binding.quiet,
        settle,
      },
      dryRun: binding.dryRun,
      ...(specFault === undefined ? {} : { specFault }),
      ...(targetFault === undefined ? {} : { targetFault }),
      ...blockageOf(object, service, { original, state: stage.state }),
      stage,
      replicas,
      ...fault,
      pods,
      path: { joined, ...this.#reach(key, service), provenAt },
      activity,
      triggers,
      ...periodOf(binding.enabledPeriod, now),
      drainPrepared: drainPrepared(namespace, serviceName),
      createdAt: idleness.createdAt,
      idleSince: idleSince(idleness, { triggers, activity }, now),
      interrupted: memory?.interrupted ?? 0,
    };
  }

  #reach(key: string, service: Service | undefined): Pick<Path, "resolvers" | "unreached" | "unbound"> {
    const { resolvers, unreached, unbound } = this.#options;
    return { resolvers: resolvers(), unreached: service ? unreached(service) : [], unbound: unbound(key) };
  }

  async #replicas(
    { namespace, target }: Binding,
    signal: AbortSignal,
  ): Promise<Pick<ServiceSnapshot, "replicas" | "scaleFault">> {
    try {
      return { replicas: await this.#options.replicas(namespace, target, signal) };
    } catch (error) {
      // At the deadline the status names the call that hung.
      if (signal.aborted) throw error;
      // Unknown is never zero: the decision says that the scale cannot be read, and the next turn tries again.
      return { replicas: null, scaleFault: explain(error) };
    }
  }

  async #provenAt(
    { memory, joined, binding }: Subject,
    stage: Stage,
    service: Service | undefined,
    pods: Pods | null,
    signal: AbortSignal,
  ): Promise<number | null> {
    const { clock, prove, drainPrepared, settle } = this.#options;
    // What somebody took out of the path is written anew, and kube-proxy has to hear of it again.
    if (!joined) return null;
    if (memory?.provenAt != null) return memory.provenAt;
    const matters = stage.purpose === "sleep" || drainPrepared(binding.namespace, binding.service);
    if (stage.state !== "Guard" || !service || !pods || !matters) return null;
    if (!prove) return clock.now();
    if (nextProbeAt(stage.since, settle, memory?.lookedAt ?? stage.since) > clock.now()) return null;
    // The first round leaves pods alone: nearly always it is enough.
    const blind = clock.now() >= nextProbeAt(stage.since, settle, stage.since + settle);
    return (await prove(service, { ready: pods.ready, blind }, signal)) ? clock.now() : null;
  }
}

function isFallingAsleep(stage: Stage | undefined): boolean {
  return stage?.state === "Guard" && stage.purpose === "sleep";
}

function periodOf(
  period: Binding["enabledPeriod"],
  now: number,
): Pick<ServiceSnapshot, "withinPeriod" | "periodFault"> {
  if (!period) return { withinPeriod: true };
  const answer = isWithin(period, now);
  return "error" in answer ? { withinPeriod: false, periodFault: answer.error } : { withinPeriod: answer.within };
}

/** A Service that only local endpoints serve is left alone. One that became so while it is redirected is not: it is brought back to its pods. */
function blockageOf(
  { metadata }: StoredElastiService,
  service: Service | undefined,
  { original, state }: { readonly original: string | undefined; readonly state: State },
): { readonly blocked: Blockage | null; readonly localOnly?: string } {
  if (original !== undefined) return { blocked: { reason: "OriginalRuns", message: original } };
  if (metadata.annotations?.[PAUSED] === "true") {
    return { blocked: { reason: "Paused", message: `the annotation ${PAUSED} is set` } };
  }
  const unsupported = (message: string) => ({ blocked: { reason: "Unsupported" as const, message } });
  const fault = service && whyUnsupported(service);
  if (fault !== undefined) return unsupported(fault);
  const localOnly = service && whyLocalOnly(service);
  if (localOnly === undefined) return { blocked: null };
  return state === "Serve" ? unsupported(localOnly) : { blocked: null, localOnly };
}

/** Why some nodes would drop the requests of a Service whose only endpoints are those of the resolver. */
function whyLocalOnly({ spec = {} }: Service): string | undefined {
  const fields = ["internalTrafficPolicy", "externalTrafficPolicy"] as const;
  const found = fields.find((field) => spec[field] === "Local");
  return (
    found && `${found} of the Service is Local, so nodes without a replica of the resolver would drop its requests`
  );
}

/** Why the resolver cannot stand in the path of a Service. */
function whyUnsupported({ spec = {} }: Service): string | undefined {
  if (spec.type === "ExternalName") return "a Service of type ExternalName has no endpoints";
  if (spec.clusterIP === "None") {
    return "the Service is headless, so its clients connect to pods directly";
  }
  const ports = (spec.ports ?? []).filter(({ protocol = "TCP" }) => protocol === "TCP");
  return ports.length === 0 ? "the Service has no TCP port" : undefined;
}

/** What is on record is of another leader, or a little older than what is remembered. */
function idlenessOf({ metadata, status }: StoredElastiService, memory: Memory | undefined): Idleness {
  return {
    createdAt: instant(metadata.creationTimestamp),
    since: memory?.idleSince ?? instant(status?.lastScaledUpTime),
    lookedAt: memory?.lookedAt ?? null,
  };
}

function instant(text: string | undefined): number | null {
  const time = Date.parse(text ?? "");
  return Number.isNaN(time) ? null : time;
}
