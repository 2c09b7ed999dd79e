import { type KubeClient, kubeErrors, type KubeObject, type ResourceTypeOf } from "@evenkeel/kube";
import { type RouteRef, serviceKey } from "../../binding.ts";
import { type ActOptions, checkedBy } from "../act-options.ts";
import { GrantMissing, RouteNeedsResolverService, RouteNotFound, RouteWithoutService } from "./errors.ts";
import * as httpRoute from "./http-route.ts";
import type { At, Redirection, Redirected, Was } from "./redirect.ts";
import * as virtualService from "./virtual-service.ts";

export interface RouteSwitchOptions {
  readonly kube: Pick<KubeClient, "resource">;
  /** The resolver's own Service; undefined if it has none. */
  readonly resolver: Redirection["resolver"] | undefined;
}

/** What was led away from a route, on the route itself: whoever takes over finds it there. */
const SWITCHED = "evenkeel.io/switched";
/** Writes of one route before it is given up for this time. */
const TRIES = 5;

interface Route extends KubeObject {
  readonly spec?: Readonly<Record<string, unknown>>;
}

interface Grant extends KubeObject {
  readonly spec?: {
    readonly from?: readonly { readonly group: string; readonly kind: string; readonly namespace: string }[];
    readonly to?: readonly { readonly group: string; readonly kind: string; readonly name?: string }[];
  };
}

const GATEWAY = "gateway.networking.k8s.io";

const referenceGrants: ResourceTypeOf<Grant> = {
  ...{ group: GATEWAY, version: "v1beta1", kind: "ReferenceGrant", plural: "referencegrants", namespaced: true },
};

/** What differs between the kinds of routes. */
interface RouteKind {
  readonly type: ResourceTypeOf<Route>;
  readonly field: string;
  redirect(rules: readonly never[], redirection: Redirection): Redirected<readonly unknown[]>;
  restore(rules: readonly never[], was: readonly Was[], redirection: Redirection): readonly unknown[];
  isRedirected(rules: readonly never[], redirection: Redirection): boolean;
  isRedirectedAt(rules: readonly never[], at: At, redirection: Redirection): boolean;
}

/** A route as it was read; absent if there is none. */
interface Reading {
  readonly kind: RouteKind;
  readonly route: Route | undefined;
  readonly rules: readonly unknown[];
}

const KINDS: Readonly<Record<RouteRef["type"], RouteKind>> = {
  virtualService: {
    type: {
      group: "networking.istio.io",
      version: "v1",
      kind: "VirtualService",
      plural: "virtualservices",
      namespaced: true,
    },
    field: "http",
    ...virtualService,
  },
  httpRoute: {
    type: { group: GATEWAY, version: "v1", kind: "HTTPRoute", plural: "httproutes", namespaced: true },
    field: "rules",
    ...httpRoute,
  },
};

/**
 * Leads the requests of a route to the resolver and back, beside the Service's own endpoints: a mesh or a gateway that does not look at
 * those comes to the resolver all the same.
 */
export class RouteSwitch {
  readonly #options: RouteSwitchOptions;
  /** By Service, the routes that were led away here and not back yet. A status names one, and may be older than what was done. */
  readonly #led = new Map<string, Map<string, RouteRef>>();

  constructor(options: RouteSwitchOptions) {
    this.#options = options;
  }

  /** Leads every destination of the route that is the Service to the resolver. May be repeated, also after somebody put it back. */
  async join(namespace: string, service: string, ref: RouteRef, options: ActOptions = {}): Promise<void> {
    const { resolver } = this.#options;
    const shown = `${KINDS[ref.type].type.kind} ${namespace}/${ref.name}`;
    if (!resolver) throw new RouteNeedsResolverService({ route: shown });
    const redirection = { namespace, service, resolver };
    if (ref.type === "httpRoute") await this.#checkGrant(redirection, options);
    await this.#change(namespace, ref, options, ({ kind, route, rules }) => {
      if (!route) throw new RouteNotFound({ route: shown });
      const { rules: led, was } = kind.redirect(rules as never[], redirection);
      if (was.length === 0) {
        if (kind.isRedirected(rules as never[], redirection)) return undefined;
        throw new RouteWithoutService({ route: shown, service });
      }
      // What somebody has put back is not led away any more, and what he wrote instead is what will be put back.
      const kept = wasOf(route).filter(
        (one) => one.service !== service || kind.isRedirectedAt(rules as never[], one.at, redirection),
      );
      return { rules: led, was: [...kept, ...was] };
    });
    const key = serviceKey(namespace, service);
    this.#led.set(key, (this.#led.get(key) ?? new Map<string, RouteRef>()).set(idOf(ref), ref));
  }

  /** Puts back what was led away: of the routes that are named, and of those that were led away here besides, but not of `kept`. */
  async leave(
    namespace: string,
    service: string,
    named: readonly (RouteRef | null | undefined)[],
    { kept, ...options }: ActOptions & { readonly kept?: RouteRef | null } = {},
  ): Promise<void> {
    const key = serviceKey(namespace, service);
    const led = this.#led.get(key);
    const routes = new Map(led);
    for (const ref of named) if (ref) routes.set(idOf(ref), ref);
    if (kept) routes.delete(idOf(kept));
    for (const [id, ref] of routes) {
      await this.#putBack(namespace, service, ref, options);
      led?.delete(id);
    }
    if (led?.size === 0) this.#led.delete(key);
  }

  /** A route that is gone has nothing to put back. */
  async #putBack(namespace: string, service: string, ref: RouteRef, options: ActOptions): Promise<void> {
    const { resolver } = this.#options;
    if (!resolver) return;
    const redirection = { namespace, service, resolver };
    await this.#change(namespace, ref, options, ({ kind, route, rules }) => {
      if (!route) return undefined;
      const was = wasOf(route);
      const others = was.filter((one) => one.service !== service);
      if (others.length === was.length && !kind.isRedirected(rules as never[], redirection)) return undefined;
      return { rules: kind.restore(rules as never[], was, redirection), was: others };
    });
  }

  /** Others write routes too, such as for another Service behind the same one: what they do meanwhile is looked at anew. */
  async #change(
    namespace: string,
    ref: RouteRef,
    options: ActOptions,
    change: (read: Reading) => Redirected<readonly unknown[]> | undefined,
  ): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      const read = await this.#read(namespace, ref, options);
      const changed = change(read);
      if (!changed || !read.route) return;
      try {
        await this.#write(read.kind, read.route, changed, options);
        return;
      } catch (error) {
        if (!(error instanceof kubeErrors.Conflict) || attempt === TRIES) throw error;
      }
    }
  }

  async #read(namespace: string, { type, name }: RouteRef, options: ActOptions): Promise<Reading> {
    const kind = KINDS[type];
    try {
      const route = await this.#options.kube.resource(kind.type).get({ namespace, name }, options);
      const rules = route.spec?.[kind.field];
      return { kind, route, rules: Array.isArray(rules) ? (rules as readonly unknown[]) : [] };
    } catch (error) {
      if (error instanceof kubeErrors.NotFound) return { kind, route: undefined, rules: [] };
      throw error;
    }
  }

  async #write(
    { type, field }: RouteKind,
    { metadata: { namespace, name = "", resourceVersion } }: Route,
    { rules, was }: Redirected<readonly unknown[]>,
    options: ActOptions,
  ): Promise<void> {
    const annotations = { [SWITCHED]: was.length === 0 ? null : JSON.stringify(was) };
    const body = { metadata: { resourceVersion, annotations }, spec: { [field]: rules } };
    await checkedBy(options, this.#options.kube.resource(type)).patch(
      { namespace, name },
      { type: "merge", body },
      options,
    );
  }

  /** A gateway follows a reference into another namespace only if somebody there allows it, and answers 500 otherwise. */
  async #checkGrant({ namespace, resolver }: Redirection, options: ActOptions): Promise<void> {
    if (namespace === resolver.namespace) return;
    const { items } = await this.#options.kube
      .resource(referenceGrants)
      .list({ ...options, namespace: resolver.namespace });
    const isAllowed = items.some(
      ({ spec }) =>
        spec?.from?.some(
          (from) => from.group === GATEWAY && from.kind === "HTTPRoute" && from.namespace === namespace,
        ) &&
        spec.to?.some((to) => to.group === "" && to.kind === "Service" && (to.name ?? resolver.name) === resolver.name),
    );
    if (!isAllowed) throw new GrantMissing({ from: namespace, to: resolver.namespace, service: resolver.name });
  }
}

function idOf({ type, name }: RouteRef): string {
  return `${type}/${name}`;
}

function wasOf({ metadata }: Route): readonly Was[] {
  try {
    const was: unknown = JSON.parse(metadata.annotations?.[SWITCHED] ?? "[]");
    return Array.isArray(was) ? was.filter(isWas) : [];
  } catch {
    return [];
  }
}

function isWas(value: unknown): value is Was {
  const { at, service, was } = (value ?? {}) as Readonly<Record<string, unknown>>;
  const isPlace = Array.isArray(at) && at.length === 2 && at.every(Number.isInteger);
  return typeof service === "string" && isPlace && typeof was === "object" && was !== null;
}
