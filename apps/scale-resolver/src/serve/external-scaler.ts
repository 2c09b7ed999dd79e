import { externalScaler, type Served, Status } from "@evenkeel/rpc";
import { type Clock, sleep } from "@evenkeel/runtime";
import { serviceKey, type TargetRef } from "../binding.ts";
import type { State } from "../decide/state.ts";
import { isReleased } from "../elasti-service-resource.ts";
import type { Activities } from "../gateway/activities.ts";
import { isScaledBy, namedService } from "../observe/bindings.ts";
import type { ClusterView } from "../observe/cluster-view.ts";
import type { Board } from "./board.ts";
import { NoSuchScaledService } from "./errors.ts";

/** What KEDA is told of a Service. */
export interface ScaledSight {
  readonly state: State | null;
  /** Pods that are ready, and those that start and have an address. */
  readonly ready: number;
  readonly starting: number;
  /** Its ElastiService is deleted or released: the workload is being woken for good. */
  readonly releasing: boolean;
  /** Requests that wait or are under way, and how many a second came, in this replica and those that it hears of. */
  readonly requests: number;
  readonly requestRate: number;
}

export interface ExternalScalerOptions {
  /** The Service that a ScaledObject is about, by its key; nothing if no ElastiService speaks of it. */
  readonly find: (namespace: string, scaledObject: string, service: string | undefined) => string | undefined;
  /** Asks nobody: what is pushed is pushed at once. */
  readonly look: (key: string) => ScaledSight;
  /** Reads what the workload is set to; null if that fails. Pods without an address yet are in it. */
  readonly replicas: (key: string) => Promise<number | null>;
  /** Calls `listener` with the key of each Service that something happened to, until the returned function is called. */
  readonly subscribe: (listener: (key: string) => void) => () => void;
  readonly clock: Clock;
}

/** What a replica knows of the Services that ScaledObjects are about. */
export function scaledSights(
  view: ClusterView,
  board: Pick<Board, "get" | "subscribe">,
  activities: Pick<Activities, "seen">,
  /** Calls the listener with the key of each Service of which this replica or another has news. */
  news: (listener: (key: string) => void) => () => void,
  read: (namespace: string, target: TargetRef) => Promise<number>,
): Omit<ExternalScalerOptions, "clock"> {
  return {
    replicas: async (key) => {
      const binding = view.binding(key);
      return binding ? read(binding.namespace, binding.target).catch(() => null) : null;
    },
    find: (namespace, scaledObject, service) => {
      if (service !== undefined) {
        const key = serviceKey(namespace, service);
        return view.binding(key) && key;
      }
      const found = [...view.objects.values()].find((object) => isScaledBy(object, namespace, scaledObject));
      return found && namedService(found)[0];
    },
    look: (key) => {
      const { ready = 0, starting = 0 } = view.pods(key) ?? {};
      const { pending, inFlight, requestRate } = activities.seen(key).total;
      const state = board.get(key)?.state ?? null;
      const owner = view.bindings.ownerOf(key);
      const releasing = owner !== undefined && isReleased(owner);
      return { state, ready, starting, releasing, requests: pending + inFlight, requestRate };
    },
    subscribe: (listener) => {
      const ends = [board.subscribe(listener), news(listener)];
      return () => ends.forEach((end) => end());
    },
  };
}

type Implementation = externalScaler.ExternalScalerServiceImplementation;
type Reference = externalScaler.ScaledObjectRef;

export const CONCURRENCY = "evenkeel-concurrency";
export const REQUEST_RATE = "evenkeel-request-rate";
const DEFAULT_CONCURRENCY = 100;
/** KEDA drops what comes before it knows the metrics of an object: until there are replicas it is told again. */
const REPEAT = 2_000;
/** Each `true` makes KEDA write a status, so that it is not said more often than needed. */
const HEARTBEAT = 30_000;

/**
 * KEDA's external scaler, as `external` and as `external-push`. It is active in every state but Zero: a resolver that is out of the path
 * sees no requests, and that is no sign of their absence. For the same reason it then asks for as many pods as there are.
 */
export function externalScalerService(options: ExternalScalerOptions): Served<externalScaler.ExternalScalerDefinition> {
  return {
    definition: externalScaler.ExternalScalerDefinition,
    implementation: new ExternalScaler(options),
    statuses: { [NoSuchScaledService.entry.code]: Status.NOT_FOUND },
    // KEDA sends no token.
    access: {
      isActive: "anyone",
      streamIsActive: "anyone",
      getMetricSpec: "anyone",
      getMetrics: "anyone",
      streamMetricSpec: "anyone",
    },
  };
}

class ExternalScaler implements Implementation {
  readonly #options: ExternalScalerOptions;

  constructor(options: ExternalScalerOptions) {
    this.#options = options;
  }

  isActive: Implementation["isActive"] = async (reference) => {
    const { look, replicas } = this.#options;
    const key = this.#keyOf(reference);
    // Of pods without an address nothing is seen, and somebody has asked for them.
    return { result: isActive(look(key)) || ((await replicas(key)) ?? 0) > 0 };
  };

  streamIsActive: Implementation["streamIsActive"] = (reference, { signal }) =>
    this.#edges(this.#keyOf(reference), signal);

  getMetricSpec: Implementation["getMetricSpec"] = (reference) => {
    this.#keyOf(reference);
    return Promise.resolve({ metricSpecs: specsOf(reference) });
  };

  getMetrics: Implementation["getMetrics"] = async ({ scaledObjectRef, metricName }) => {
    const reference = scaledObjectRef ?? { name: "", namespace: "", scalerMetadata: {} };
    const { look, replicas } = this.#options;
    const key = this.#keyOf(reference);
    const sight = look(key);
    const { ready, starting } = sight;
    const present = isAsleep(sight) ? 0 : Math.max((await replicas(key)) ?? 0, ready + starting);
    const targets = targetsOf(reference).filter(({ name }) => name === metricName);
    const metricValues = targets.map(({ name, target }) => valueMessage(name, valueOf(name, target, sight, present)));
    return { metricValues };
  };

  streamMetricSpec: Implementation["streamMetricSpec"] = (reference, { signal }) => {
    this.#keyOf(reference);
    return specStream(specsOf(reference), this.#options.clock, signal);
  };

  #keyOf({ namespace, name, scalerMetadata }: Reference): string {
    const service = scalerMetadata["service"];
    const key = this.#options.find(namespace, name, service);
    if (key !== undefined) return key;
    const scaledObject = `ScaledObject ${namespace}/${name}`;
    const what = service ? `Service ${namespace}/${service} of ${scaledObject}` : scaledObject;
    throw new NoSuchScaledService({ what });
  }

  /** The present state, then `true` whenever it becomes so, again until there are replicas, and seldom while it stays so. */
  async *#edges(key: string, signal: AbortSignal): AsyncGenerator<{ readonly result: boolean }> {
    const { look, subscribe, clock } = this.#options;
    let news = Promise.withResolvers<undefined>();
    const unsubscribe = subscribe((changed) => {
      if (changed === key) news.resolve(undefined);
    });
    let told: boolean | undefined;
    let toldAt = -Infinity;
    try {
      while (!signal.aborted) {
        news = Promise.withResolvers();
        const sight = look(key);
        const active = isActive(sight);
        const every = sight.ready + sight.starting === 0 ? REPEAT : HEARTBEAT;
        const isDue = active !== told || (active && clock.monotonic() - toldAt >= every);
        if (isDue) {
          told = active;
          toldAt = clock.monotonic();
          yield { result: active };
        }
        const wait = active ? Math.max(0, every - (clock.monotonic() - toldAt)) : HEARTBEAT;
        await Promise.race([news.promise, sleep(clock, wait, signal)]);
      }
    } catch (error) {
      // A stream that ends well is opened again at once; one that fails, after a while.
      if (!signal.aborted) throw error;
    } finally {
      unsubscribe();
    }
  }
}

function isActive(sight: ScaledSight): boolean {
  const { requests, ready, starting } = sight;
  return requests > 0 || !isAsleep(sight) || ready + starting > 0;
}

/** A state that is not known yet is no reason to scale a workload to zero, and one that is released is being woken. */
function isAsleep({ state, releasing }: ScaledSight): boolean {
  return state === "Zero" && !releasing;
}

interface Target {
  readonly name: string;
  readonly target: number;
}

function targetsOf({ scalerMetadata }: Reference): readonly Target[] {
  const concurrency = positive(scalerMetadata["targetConcurrency"]);
  const rate = positive(scalerMetadata["targetRequestRate"]);
  return [
    ...(concurrency !== undefined || rate === undefined
      ? [{ name: CONCURRENCY, target: concurrency ?? DEFAULT_CONCURRENCY }]
      : []),
    ...(rate === undefined ? [] : [{ name: REQUEST_RATE, target: rate }]),
  ];
}

function specsOf(reference: Reference): externalScaler.MetricSpec[] {
  return targetsOf(reference).map(({ name, target }) => ({
    metricName: name,
    // Older KEDAs read whole numbers alone.
    targetSize: BigInt(Math.max(1, Math.round(target))),
    targetSizeFloat: target,
  }));
}

/**
 * While pods are ready, requests reach them past the resolver, which therefore asks for no fewer replicas than there are. Those that are not ready count: to ask for fewer while they start would
 * take them away.
 */
function valueOf(name: string, target: number, { requests, requestRate }: ScaledSight, replicas: number): number {
  return Math.max(name === CONCURRENCY ? requests : requestRate, target * replicas);
}

function valueMessage(metricName: string, value: number): externalScaler.MetricValue {
  return { metricName, metricValue: BigInt(Math.round(value)), metricValueFloat: value };
}

async function* specStream(metricSpecs: externalScaler.MetricSpec[], clock: Clock, signal: AbortSignal) {
  yield { metricSpecs };
  // They never change while a ScaledObject stays as it is.
  while (!signal.aborted) await sleep(clock, HEARTBEAT, signal).catch(() => undefined);
}

function positive(text: string | undefined): number | undefined {
  const value = Number(text);
  return text !== undefined && Number.isFinite(value) && value > 0 ? value : undefined;
}
