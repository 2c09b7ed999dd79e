import { ELASTI_SERVICE } from "@evenkeel/api";
import type { Resource } from "@evenkeel/kube";
import { type Permission, resolverV1, rpcErrors, type Served } from "@evenkeel/rpc";
import type { Clock } from "@evenkeel/runtime";
import { serviceKey } from "../binding.ts";
import type { ServiceSnapshot } from "../decide/snapshot.ts";
import { PAUSED, type StoredElastiService } from "../elasti-service-resource.ts";
import type { Board, BoardFilter, ServiceView } from "./board.ts";
import { NotLookedAt } from "./errors.ts";
import { forecast } from "./forecast.ts";
import { activityMessage, historyMessage, stateMessage } from "./resolver-messages.ts";
import { snapshotAfter } from "./snapshot-after.ts";

export interface ResolverServiceOptions {
  readonly board: Board;
  readonly elastiServices: Pick<Resource<StoredElastiService>, "patch">;
  /** Scales a service up that sleeps; says whether it was this call that did. */
  readonly wake: (namespace: string, service: string, reason: string) => Promise<boolean>;
  /** What is seen of a service now, by the key of its ElastiService, where this process does not lead. Absent: it cannot tell. */
  readonly observe?: (key: string, signal: AbortSignal) => Promise<ServiceSnapshot | undefined>;
  readonly clock: Clock;
}

interface ServiceRequest {
  readonly service?: resolverV1.Service | undefined;
}

type Implementation = resolverV1.ResolverServiceImplementation;
type WatchEvent = resolverV1.DeepPartial<resolverV1.WatchResponse>;

const LONGEST_REASON = 512;

/** `evenkeel.resolver.v1.Resolver`. */
export function resolverService(options: ResolverServiceOptions): Served<resolverV1.ResolverDefinition> {
  const { board } = options;
  /** Who wakes or pauses a service must be allowed to change its ElastiService. */
  const may =
    (verb: string) =>
    ({ service: { namespace, name } = { namespace: "", name: "" } }: ServiceRequest): Permission => ({
      verb,
      object: {
        group: ELASTI_SERVICE.group,
        resource: ELASTI_SERVICE.plural,
        namespace,
        name: board.elastiServiceOf(serviceKey(namespace, name)) ?? name,
      },
    });
  return {
    definition: resolverV1.ResolverDefinition,
    implementation: new ResolverService(options),
    access: { wake: may("update"), pause: may("patch"), resume: may("patch") },
  };
}

class ResolverService implements Implementation {
  readonly #options: ResolverServiceOptions;

  constructor(options: ResolverServiceOptions) {
    this.#options = options;
  }

  activity: Implementation["activity"] = (request) => {
    const views = this.#options.board.list(filterOf("Activity", request));
    return Promise.resolve({ services: views.map(activityMessage) });
  };

  watch: Implementation["watch"] = (request, { signal }) => this.#watch(filterOf("Watch", request), signal);

  wake: Implementation["wake"] = async (request) => {
    const view = this.#known("Wake", request);
    const { namespace, service, state } = view;
    const reason = request.reason.slice(0, LONGEST_REASON);
    if (state === null) throw new NotLookedAt({ service: serviceKey(namespace, service) });
    if (state !== "Zero") return { woken: false, state: stateMessage(state) };
    const woken = await this.#options.wake(namespace, service, reason);
    return { woken, state: stateMessage("Wake") };
  };

  preview: Implementation["preview"] = async (request, { signal }) => {
    const snapshot = await this.#snapshot(this.#known("Preview", request), signal);
    const { verdict, obstacles, waits } = forecast(snapshot);
    return {
      state: stateMessage(verdict.before),
      next: stateMessage(verdict.after),
      blockers: obstacles.map(({ message }) => message),
      reason: verdict.reason,
      message: verdict.message,
      obstacles: [...obstacles],
      waits: [...waits],
    };
  };

  history: Implementation["history"] = (request) => {
    const { namespace, service } = this.#known("History", request);
    return Promise.resolve(historyMessage(this.#options.board.history(serviceKey(namespace, service))));
  };

  pause: Implementation["pause"] = async (request, { signal }) => {
    await this.#annotate(this.#known("Pause", request), "true", signal);
    return {};
  };

  resume: Implementation["resume"] = async (request, { signal }) => {
    await this.#annotate(this.#known("Resume", request), null, signal);
    return {};
  };

  #known(method: string, { service }: ServiceRequest): ServiceView {
    if (!service?.namespace || !service.name) {
      throw new rpcErrors.BadRequest({ method, fault: "service.namespace and service.name are needed" });
    }
    const key = serviceKey(service.namespace, service.name);
    const view = this.#options.board.get(key);
    if (!view) throw new rpcErrors.NotFound({ what: `ElastiService of Service ${key}` });
    return view;
  }

  /** What the last turn left, with the requests of this moment; or what is found now, where this process does not lead. */
  async #snapshot(
    { namespace, service, elastiService, activity }: ServiceView,
    signal: AbortSignal,
  ): Promise<ServiceSnapshot> {
    const { board, observe, clock } = this.#options;
    const key = serviceKey(namespace, service);
    const turn = board.turn(key);
    if (turn) return { ...snapshotAfter(turn, clock.now()), activity };
    const seen = await observe?.(`${namespace}/${elastiService}`, signal);
    if (!seen) throw new NotLookedAt({ service: key });
    return seen;
  }

  async #annotate(
    { namespace, elastiService }: { readonly namespace: string; readonly elastiService: string },
    value: string | null,
    signal: AbortSignal,
  ): Promise<void> {
    const body = { metadata: { annotations: { [PAUSED]: value } } };
    const of = { namespace, name: elastiService };
    await this.#options.elastiServices.patch(of, { type: "merge", body }, { signal });
  }

  /** Changes that come faster than they are read become one, so that a slow reader costs no more than a list of names. */
  async *#watch(filter: BoardFilter, signal: AbortSignal): AsyncGenerator<WatchEvent> {
    const { board } = this.#options;
    const changed = new Set(board.list(filter).map(({ namespace, service }) => serviceKey(namespace, service)));
    let wake: () => void = () => undefined;
    const end = board.subscribe((key) => {
      if (!selects(filter, key)) return;
      changed.add(key);
      wake();
    });
    const stop = () => wake();
    signal.addEventListener("abort", stop);
    try {
      while (!signal.aborted) {
        for (const key of changed) {
          changed.delete(key);
          yield eventOf(key, board);
        }
        if (changed.size === 0) await new Promise<void>((resolve) => (wake = resolve));
      }
    } finally {
      end();
      signal.removeEventListener("abort", stop);
    }
  }
}

function eventOf(key: string, board: Board): WatchEvent {
  const view = board.get(key);
  if (view) return { event: { $case: "service", value: activityMessage(view) } };
  const [namespace = "", name = ""] = key.split("/");
  return { event: { $case: "removed", value: { namespace, name } } };
}

/** An empty text asks for all. */
function filterOf(method: string, { namespace, name }: { namespace: string; name: string }): BoardFilter {
  if (name !== "" && namespace === "") {
    throw new rpcErrors.BadRequest({ method, fault: "a name needs its namespace" });
  }
  return { ...(namespace !== "" && { namespace }), ...(name !== "" && { service: name }) };
}

function selects({ namespace, service }: BoardFilter, key: string): boolean {
  if (namespace === undefined) return true;
  return service === undefined ? key.startsWith(`${namespace}/`) : key === serviceKey(namespace, service);
}
