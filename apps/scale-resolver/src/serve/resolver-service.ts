import { ELASTI_SERVICE } from "@evenkeel/api";
import { nameKey, type Resource } from "@evenkeel/kube";
import { objectFilter, objectNamed, pausing, watchBoard } from "@evenkeel/operator";
import { resolverV1, rpcErrors, type Served } from "@evenkeel/rpc";
import type { Clock } from "@evenkeel/runtime";
import { serviceKey } from "../binding.ts";
import type { ServiceSnapshot } from "../decide/snapshot.ts";
import type { StoredElastiService } from "../elasti-service-resource.ts";
import type { Board, ServiceView } from "./board.ts";
import { NotReconciled } from "./errors.ts";
import { forecast } from "./forecast.ts";
import { activityMessage, historyMessage, stateMessage } from "./resolver-messages.ts";
import { snapshotAfter } from "./snapshot-after.ts";

export interface ResolverServiceOptions {
  readonly board: Board;
  readonly elastiServices: Pick<Resource<StoredElastiService>, "patch">;
  /** Scales a sleeping service up. Resolves with whether this call did it. */
  readonly wake: (namespace: string, service: string, reason: string) => Promise<boolean>;
  readonly clock: Clock;
}

interface ServiceRequest {
  readonly service?: resolverV1.Service | undefined;
}

type Implementation = resolverV1.ResolverServiceImplementation;

const LONGEST_REASON = 512;

/**
 * `evenkeel.resolver.v1.Resolver`. A caller that wakes or pauses a service must be allowed to update its ElastiService.
 */
export function resolverService(options: ResolverServiceOptions): Served<resolverV1.ResolverDefinition> {
  const { board, elastiServices: resource } = options;
  const service = new ResolverService(options);
  const asked = ({ service: { namespace, name } = { namespace: "", name: "" } }: ServiceRequest) => ({
    namespace,
    name: board.elastiServiceOf(serviceKey(namespace, name)) ?? name,
  });
  const { group, plural } = ELASTI_SERVICE;
  const { methods, access } = pausing<ServiceRequest>({
    ...{ type: ELASTI_SERVICE, resource, asked },
    known: (method, request) => {
      const { namespace, elastiService } = service.known(method, request);
      return { namespace, name: elastiService };
    },
  });
  return {
    definition: resolverV1.ResolverDefinition,
    implementation: Object.assign(service, methods),
    access: {
      ...access,
      wake: (request) => ({ verb: "update", object: { group, resource: plural, ...asked(request) } }),
    },
  };
}

class ResolverService implements Omit<Implementation, "pause" | "resume"> {
  readonly #options: ResolverServiceOptions;

  constructor(options: ResolverServiceOptions) {
    this.#options = options;
  }

  activity: Implementation["activity"] = (request) => {
    const { board } = this.#options;
    const keys = board.keys().filter(objectFilter("Activity", request));
    return Promise.resolve({ services: keys.flatMap((key) => board.get(key) ?? []).map(activityMessage) });
  };

  watch: Implementation["watch"] = (request, { signal }) =>
    watchBoard(this.#options.board, {
      selects: objectFilter("Watch", request),
      event: (view) => ({ $case: "service", value: activityMessage(view) }) as const,
      signal,
    });

  wake: Implementation["wake"] = async (request) => {
    const view = this.known("Wake", request);
    const { namespace, service, state } = view;
    const reason = request.reason.slice(0, LONGEST_REASON);
    if (state === null) throw new NotReconciled({ service: serviceKey(namespace, service) });
    if (state !== "Zero") return { woken: false, state: stateMessage(state) };
    const woken = await this.#options.wake(namespace, service, reason);
    return { woken, state: stateMessage("Wake") };
  };

  preview: Implementation["preview"] = (request) => {
    const { verdict, obstacles, waits } = forecast(this.#snapshot(this.known("Preview", request)));
    return Promise.resolve({
      state: stateMessage(verdict.before),
      next: stateMessage(verdict.after),
      blockers: obstacles.map(({ message }) => message),
      reason: verdict.reason,
      message: verdict.message,
      obstacles: [...obstacles],
      waits: [...waits],
    });
  };

  history: Implementation["history"] = (request) => {
    const { namespace, service } = this.known("History", request);
    return Promise.resolve(historyMessage(this.#options.board.history(serviceKey(namespace, service))));
  };

  known(method: string, { service }: ServiceRequest): ServiceView {
    const key = nameKey(objectNamed(method, "service", service));
    const view = this.#options.board.get(key);
    if (!view) throw new rpcErrors.NotFound({ what: `ElastiService of Service ${key}` });
    return view;
  }

  /** The snapshot after the last reconcile, with the current activity. */
  #snapshot({ namespace, service, activity }: ServiceView): ServiceSnapshot {
    const { board, clock } = this.#options;
    const key = serviceKey(namespace, service);
    const result = board.lastResult(key);
    if (!result) throw new NotReconciled({ service: key });
    return { ...snapshotAfter(result, clock.now()), activity };
  }
}
