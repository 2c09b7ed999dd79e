import type { Rebalance } from "@evenkeel/api";
import { type HttpRoute, kubeErrors, type Resource } from "@evenkeel/kube";
import { CodedError } from "@evenkeel/runtime";
import { AllZero, HttpRouteContended, NoHttpRoute, OutOfRange, TargetChanged, Withdrawn } from "../errors.ts";
import { type BackendId, findBackend, type WeightedBackend, weightOf, weightPatch } from "./http-route-backend.ts";
import type { ReadTerms, TargetState, WeightTarget, WriteTerms } from "./weight-target.ts";

export type HttpRouteSpec = NonNullable<NonNullable<Rebalance["spec"]["target"]>["httpRoute"]>;

/** The verbs that are used. */
export type HttpRoutes = Pick<Resource<HttpRoute>, "get" | "patch">;

export const HTTP_ROUTE_RANGE = { minimum: 0, maximum: 1_000_000 };

/** Attempts to write, if the route changes between reading and writing it. */
const ATTEMPTS = 5;

/**
 * A backend of a Gateway API HTTPRoute as a target. Other clients may write the same route, so only the weight is
 * patched.
 */
export function httpRouteTarget(routes: HttpRoutes, namespace: string, spec: HttpRouteSpec): WeightTarget {
  return new HttpRouteTarget(routes, namespace, spec);
}

class HttpRouteTarget implements WeightTarget {
  readonly name: string;
  readonly range = HTTP_ROUTE_RANGE;
  readonly #routes: HttpRoutes;
  readonly #object: { readonly namespace: string; readonly name: string };
  readonly #id: BackendId;

  constructor(routes: HttpRoutes, namespace: string, { name, rule, backend }: HttpRouteSpec) {
    this.#routes = routes;
    this.#object = { namespace, name };
    this.#id = { route: `${namespace}/${name}`, rule, backend };
    this.name = `httproute ${this.#id.route} rule ${rule} ${backend}`;
  }

  async read({ signal }: ReadTerms): Promise<TargetState> {
    const { ref, others } = findBackend(this.#id, await this.#get(signal));
    return {
      weight: weightOf(ref),
      others: others.map((other) => ({ name: other.name, weight: weightOf(other) })),
      timeToLive: 0,
      pending: false,
    };
  }

  async write(weight: number, terms: WriteTerms): Promise<void> {
    const { minimum, maximum } = this.range;
    const target = this.name;
    if (!Number.isInteger(weight) || weight < minimum || weight > maximum)
      throw new OutOfRange({ target, minimum, maximum, weight });
    let route = await this.#get(terms.signal);
    for (let attempt = 1; ; attempt++) {
      const backend = findBackend(this.#id, route);
      if (!this.#isToWrite(backend, weight, terms)) return;
      const fault = await this.#patch(backend, weight, terms);
      if (fault === undefined) return;
      const before = route;
      route = await this.#get(terms.signal);
      // If the route did not change meanwhile, another attempt would be refused too.
      if (route.metadata.resourceVersion === before.metadata.resourceVersion) throw fault;
      if (attempt === ATTEMPTS) throw new HttpRouteContended({ target, weight, attempts: attempt }, { cause: fault });
    }
  }

  /** False if the backend already has the weight. Throws if it must not be written. */
  #isToWrite({ ref, others }: WeightedBackend, weight: number, { signal, expected }: WriteTerms): boolean {
    const target = this.name;
    const { route, rule } = this.#id;
    if (weight === 0 && others.every((other) => weightOf(other) === 0))
      throw new AllZero({ target, weight: weightOf(ref), set: `rule ${rule} of HTTPRoute ${route}` });
    const found = weightOf(ref);
    if (found === weight) return false;
    if (expected !== undefined && found !== expected) throw new TargetChanged({ target, weight, expected, found });
    if (signal.aborted)
      throw new Withdrawn({ target, weight, why: "its deadline has passed" }, { cause: signal.reason });
    return true;
  }

  async #get(signal: AbortSignal): Promise<HttpRoute> {
    try {
      return await this.#routes.get(this.#object, { signal });
    } catch (error) {
      if (isOf(error, kubeErrors.NotFound)) throw new NoHttpRoute({ route: this.#id.route }, { cause: error });
      throw error;
    }
  }

  /** Returns the refusal if the reason may be that the route has changed since it was read. */
  async #patch(
    backend: WeightedBackend,
    weight: number,
    { signal, lastLook }: WriteTerms,
  ): Promise<CodedError | undefined> {
    const operations = weightPatch(this.#id.rule, backend, weight);
    try {
      await this.#routes.patch(this.#object, { type: "json", operations }, { signal, beforeSend: lastLook });
      return undefined;
    } catch (error) {
      if (isOf(error, kubeErrors.Conflict) || isOf(error, kubeErrors.Invalid)) return error;
      throw error;
    }
  }
}

function isOf(error: unknown, { entry }: { readonly entry: { readonly code: string } }): error is CodedError {
  return error instanceof CodedError && error.code === entry.code;
}
