import type { Service } from "@evenkeel/kube";
import { type Clock, explain } from "@evenkeel/runtime";
import { isInPortRange, type PortRange } from "../act/port-range.ts";
import { type Binding, serviceKey, type TargetRef } from "../binding.ts";
import type { Activity, Blockage, Path, Pods, ServiceSnapshot, TriggerReading } from "../decide/snapshot.ts";
import type { Stage, State } from "../decide/state.ts";
import type { StoredElastiService } from "../elasti-service-resource.ts";
import { PAUSED } from "@evenkeel/kube";
import type { ClusterView } from "./cluster-view.ts";
import { isWithin } from "./enabled-period.ts";
import { type Idleness, idleSince, trafficOf } from "./idle-since.ts";
import { nextProbeAt, type ProbeRound } from "./probe-rounds.ts";
import { type Memory, stageFound } from "./stages.ts";

export interface ObserverOptions {
  readonly view: Pick<ClusterView, "services" | "pods">;
  /** Reads the replicas of a workload. */
  readonly replicas: (namespace: string, target: TargetRef, signal: AbortSignal) => Promise<number>;
  /** Undefined: the metric servers have not answered yet. The object is reconciled again when they have. */
  readonly triggers: (binding: Binding) => Promise<readonly TriggerReading[] | undefined>;
  /** The sum of all replicas of the resolver; null while one of them has not reported. */
  readonly activity: (key: string) => Promise<Activity | null>;
  /** Why KubeElasti's operator counts as running; undefined if it does not run. */
  readonly original: (signal: AbortSignal) => Promise<string | undefined>;
  /** Number of ready replicas of the resolver. */
  readonly resolvers: () => number;
  /** Address families of a Service in which no ready resolver is reachable. */
  readonly unreached: (service: Service) => NonNullable<Path["unreached"]>;
  /** Number of the Service's ports on which this replica could not listen. */
  readonly unbound: (key: string) => number;
  readonly drainPrepared: (namespace: string, service: string) => boolean;
  /** Verifies with one round of probes that the resolver is in a Service's path; undefined: not verified. */
  readonly prove: ((service: Service, round: ProbeRound, signal: AbortSignal) => Promise<boolean>) | undefined;
  readonly clock: Clock;
  readonly settle: number;
  /** Ports of the resolver that are not for the requests of one Service. */
  readonly ownPorts: readonly number[];
  /** Ports of the resolver that are, each for one. */
  readonly portRange: PortRange;
}

export interface Subject {
  readonly object: StoredElastiService;
  readonly binding: Binding;
  /** Why the spec is invalid, so that an older one is in force. */
  readonly fault: string | undefined;
  /** Why the workload can never be scaled. */
  readonly targetFault?: string | undefined;
  readonly memory: Memory | undefined;
  /** Whether the resolver's EndpointSlices exist. */
  readonly joined: boolean;
}

/**
 * Observes one service and returns everything that its next state depends on. Inputs that are not needed are not read.
 */
export class Observer {
  readonly #options: ObserverOptions;

  constructor(options: ObserverOptions) {
    this.#options = options;
  }

  /** Undefined while triggers that matter have not been read: the next state is not known yet. */
  async observe(subject: Subject, signal: AbortSignal): Promise<ServiceSnapshot | undefined> {
    const { view, clock, settle, drainPrepared, ownPorts, portRange } = this.#options;
    const { object, binding, fault: specFault, targetFault, memory, joined } = subject;
    const { namespace, name, generation, service: serviceName } = binding;
    const key = serviceKey(namespace, serviceName);
    const service = view.services.get(key);
    const pods = service ? view.pods(key) : null;
    const serving = pods ? pods.ready + pods.leaving : null;

    // The scale is read if it matters: when no pod serves, and before the resolver leaves the path or the workload is
    // scaled to 0.
    const asksScale = serving === 0 || memory?.stage.state === "Zero" || memory?.stage.state === "Guard";
    const { replicas, ...fault } = asksScale ? await this.#replicas(binding, signal) : { replicas: null };
    const stage = memory?.stage ?? stageFound({ joined, pods, replicas, now: clock.now() });
    const original = await this.#options.original(signal);
    const isPrepared = drainPrepared(namespace, serviceName);
    // A pod that terminates, or is about to be evicted, must not wait for a metric server.
    const isWarm = pods !== null && pods.ready > 0 && stage.state !== "Wake" && !isPrepared;
    const triggers = stage.state === "Zero" || isWarm ? await this.#options.triggers(binding) : [];
    if (!triggers) return undefined;
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
      ...blockageOf(object, service, { original, state: stage.state, ownPorts, portRange }),
      stage,
      replicas,
      replicasSeenAt: replicas !== null && replicas > 0 ? now : (memory?.replicasSeenAt ?? null),
      ...fault,
      pods,
      path: { joined, ...this.#reach(key, service), provenAt },
      activity,
      triggers,
      ...periodOf(binding.enabledPeriod, now),
      drainPrepared: isPrepared,
      createdAt: idleness.createdAt,
      idleSince: idleSince(
        idleness,
        { triggers, activity: trafficOf({ stage, pods, policy: { settle }, activity }) },
        now,
      ),
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
      // At the deadline, the status names the call that did not return.
      if (signal.aborted) throw error;
      // Unknown is never zero: the decision reports that the scale cannot be read, and the next reconcile reads it
      // again.
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
    // If another client removed the slices, they are written again, and kube-proxy has to follow again.
    if (!joined) return null;
    if (memory?.provenAt != null) return memory.provenAt;
    const matters = stage.purpose === "sleep" || drainPrepared(binding.namespace, binding.service);
    if (stage.state !== "Guard" || !service || !pods || !matters) return null;
    if (!prove) return clock.now();
    if (nextProbeAt(stage.since, settle, memory?.observedAt ?? stage.since) > clock.now()) return null;
    // The first round sends no requests to pods, and is nearly always enough.
    const blind = clock.now() >= nextProbeAt(stage.since, settle, stage.since + settle);
    return (await prove(service, { ready: pods.ready, blind }, signal)) ? clock.now() : null;
  }
}

function periodOf(
  period: Binding["enabledPeriod"],
  now: number,
): Pick<ServiceSnapshot, "withinPeriod" | "periodFault"> {
  if (!period) return { withinPeriod: true };
  const answer = isWithin(period, now);
  return "error" in answer ? { withinPeriod: false, periodFault: answer.error } : { withinPeriod: answer.within };
}

/**
 * A Service with a local traffic policy is not changed. If the policy became local while the Service is redirected, the
 * Service is restored.
 */
function blockageOf(
  { metadata }: StoredElastiService,
  service: Service | undefined,
  {
    original,
    state,
    ...ports
  }: Pick<ObserverOptions, "ownPorts" | "portRange"> & {
    readonly original: string | undefined;
    readonly state: State;
  },
): { readonly blocked: Blockage | null; readonly localOnly?: string } {
  if (original !== undefined) return { blocked: { reason: "OriginalRuns", message: original } };
  if (metadata.annotations?.[PAUSED] === "true") {
    return { blocked: { reason: "Paused", message: `the annotation ${PAUSED} is set` } };
  }
  const unsupported = (message: string) => ({ blocked: { reason: "Unsupported" as const, message } });
  const fault = service && whyUnsupported(service);
  if (fault !== undefined) return unsupported(fault);
  const localOnly = service && (whyLocalOnly(service) ?? whyExposing(service, ports));
  if (localOnly === undefined) return { blocked: null };
  return state === "Serve" ? unsupported(localOnly) : { blocked: null, localOnly };
}

/** Why some nodes would drop the requests of a Service that has only endpoints of the resolver. */
function whyLocalOnly({ spec = {} }: Service): string | undefined {
  const fields = ["internalTrafficPolicy", "externalTrafficPolicy"] as const;
  const found = fields.find((field) => spec[field] === "Local");
  return (
    found && `${found} of the Service is Local, so nodes without a replica of the resolver would drop its requests`
  );
}

/**
 * Why clients of a Service would reach a port of the resolver itself, or of another Service. For a Service with several
 * ports, ingress-nginx also sends requests to the numeric targetPort at every endpoint:
 * https://github.com/kubernetes/ingress-nginx/issues/7390
 */
function whyExposing(
  { spec = {} }: Service,
  { ownPorts, portRange }: Pick<ObserverOptions, "ownPorts" | "portRange">,
): string | undefined {
  const ports = (spec.ports ?? []).filter(({ protocol = "TCP" }) => protocol === "TCP");
  const isResolvers = (port: number) => ownPorts.includes(port) || isInPortRange(port, portRange);
  const found = ports.find(({ targetPort }) => typeof targetPort === "number" && isResolvers(targetPort));
  if (ports.length < 2 || !found) return undefined;
  return `targetPort ${found.targetPort} of the Service is a port of the resolver, so ingress-nginx would send requests to the resolver itself or to another Service: use a named targetPort, or change --port-range`;
}

/** Why a Service cannot be redirected to the resolver. */
function whyUnsupported({ spec = {} }: Service): string | undefined {
  if (spec.type === "ExternalName") return "a Service of type ExternalName has no endpoints";
  if (spec.clusterIP === "None") {
    return "the Service is headless, so its clients connect to pods directly";
  }
  const ports = (spec.ports ?? []).filter(({ protocol = "TCP" }) => protocol === "TCP");
  return ports.length === 0 ? "the Service has no TCP port" : undefined;
}

/** The recorded time is of another leader, or a little older than the remembered one. */
function idlenessOf({ metadata, status }: StoredElastiService, memory: Memory | undefined): Idleness {
  return {
    createdAt: instant(metadata.creationTimestamp),
    since: memory?.idleSince ?? instant(status?.lastScaledUpTime),
    observedAt: memory?.observedAt ?? null,
  };
}

function instant(text: string | undefined): number | null {
  const time = Date.parse(text ?? "");
  return Number.isNaN(time) ? null : time;
}
