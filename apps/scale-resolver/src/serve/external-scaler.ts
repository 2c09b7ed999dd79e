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

/** What KEDA gets to know of a Service. */
export interface ScaledServiceView {
  readonly state: State | null;
  /** Number of ready pods, and of those that start and have an address. */
  readonly ready: number;
  readonly starting: number;
  /** Whether its ElastiService is deleted or released: the workload is being woken and stays awake. */
  readonly releasing: boolean;
  /** Waiting requests and requests in flight, and requests per second, of this replica and those that report to it. */
  readonly requests: number;
  readonly requestRate: number;
}

export interface ExternalScalerOptions {
  /** The key of the Service of a ScaledObject; undefined if no ElastiService names it. */
  readonly find: (namespace: string, scaledObject: string, service: string | undefined) => string | undefined;
  /** Synchronous, so that changes are pushed at once. */
  readonly viewOf: (key: string) => ScaledServiceView;
  /** Reads the replicas of the workload, which include pods without an address; null if the read fails. */
  readonly replicas: (key: string) => Promise<number | null>;
  /** Calls `listener` with the key of each Service that changed, until the returned function is called. */
  readonly subscribe: (listener: (key: string) => void) => () => void;
  readonly clock: Clock;
}

/** What a replica knows of the Services of ScaledObjects. */
export function scaledServiceViews(
  view: ClusterView,
  board: Pick<Board, "get" | "subscribe">,
  activities: Pick<Activities, "seen">,
  /** Calls the listener with the key of each Service for which this replica or another has news. */
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
    viewOf: (key) => {
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
/**
 * Milliseconds between repeats until there are replicas: KEDA drops messages before it knows the metrics of an object.
 */
const REPEAT = 2_000;
/** Milliseconds between repeats after that. Each `true` makes KEDA write a status, so repeats are rare. */
const HEARTBEAT = 30_000;

/**
 * KEDA's external scaler, for `external` and `external-push`. It is active in every state except Zero: a resolver that
 * is out of the path sees no requests, so it cannot report that there are none. For the same reason it then requests as
 * many pods as there are.
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
    const { viewOf, replicas } = this.#options;
    const key = this.#keyOf(reference);
    // Pods without an address are not visible here, but the workload's replicas include them.
    return { result: isActive(viewOf(key)) || ((await replicas(key)) ?? 0) > 0 };
  };

  streamIsActive: Implementation["streamIsActive"] = (reference, { signal }) =>
    this.#edges(this.#keyOf(reference), signal);

  getMetricSpec: Implementation["getMetricSpec"] = (reference) => {
    this.#keyOf(reference);
    return Promise.resolve({ metricSpecs: specsOf(reference) });
  };

  getMetrics: Implementation["getMetrics"] = async ({ scaledObjectRef, metricName }) => {
    const reference = scaledObjectRef ?? { name: "", namespace: "", scalerMetadata: {} };
    const { viewOf, replicas } = this.#options;
    const key = this.#keyOf(reference);
    const view = viewOf(key);
    const { ready, starting } = view;
    const present = isAsleep(view) ? 0 : Math.max((await replicas(key)) ?? 0, ready + starting);
    const targets = targetsOf(reference).filter(({ name }) => name === metricName);
    const metricValues = targets.map(({ name, target }) => valueMessage(name, valueOf(name, target, view, present)));
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

  /**
   * Sends the current state, then `true` on each change to active, repeatedly until there are replicas, and rarely
   * after that.
   */
  async *#edges(key: string, signal: AbortSignal): AsyncGenerator<{ readonly result: boolean }> {
    const { viewOf, subscribe, clock } = this.#options;
    let news = Promise.withResolvers<undefined>();
    const unsubscribe = subscribe((changed) => {
      if (changed === key) news.resolve(undefined);
    });
    let told: boolean | undefined;
    let notifiedAt = -Infinity;
    try {
      while (!signal.aborted) {
        news = Promise.withResolvers();
        const view = viewOf(key);
        const active = isActive(view);
        const every = view.ready + view.starting === 0 ? REPEAT : HEARTBEAT;
        const isDue = active !== told || (active && clock.monotonic() - notifiedAt >= every);
        if (isDue) {
          told = active;
          notifiedAt = clock.monotonic();
          yield { result: active };
        }
        const wait = active ? Math.max(0, every - (clock.monotonic() - notifiedAt)) : HEARTBEAT;
        await Promise.race([news.promise, sleep(clock, wait, signal)]);
      }
    } catch (error) {
      // KEDA reopens a stream that ended without an error at once, and one that failed after a pause.
      if (!signal.aborted) throw error;
    } finally {
      unsubscribe();
    }
  }
}

function isActive(view: ScaledServiceView): boolean {
  const { requests, ready, starting } = view;
  return requests > 0 || !isAsleep(view) || ready + starting > 0;
}

/** An unknown state is not a reason to scale to zero, and a released workload is being woken. */
function isAsleep({ state, releasing }: ScaledServiceView): boolean {
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
    // Older versions of KEDA only read whole numbers.
    targetSize: BigInt(Math.max(1, Math.round(target))),
    targetSizeFloat: target,
  }));
}

/**
 * While pods are ready, requests do not pass the resolver, so it never requests fewer replicas than there are. Replicas
 * that are not ready count too, because a lower number would remove them while they start.
 */
function valueOf(name: string, target: number, { requests, requestRate }: ScaledServiceView, replicas: number): number {
  return Math.max(name === CONCURRENCY ? requests : requestRate, target * replicas);
}

function valueMessage(metricName: string, value: number): externalScaler.MetricValue {
  return { metricName, metricValue: BigInt(Math.round(value)), metricValueFloat: value };
}

async function* specStream(metricSpecs: externalScaler.MetricSpec[], clock: Clock, signal: AbortSignal) {
  yield { metricSpecs };
  // The metrics of a ScaledObject do not change.
  while (!signal.aborted) await sleep(clock, HEARTBEAT, signal).catch(() => undefined);
}

function positive(text: string | undefined): number | undefined {
  const value = Number(text);
  return text !== undefined && Number.isFinite(value) && value > 0 ? value : undefined;
}
