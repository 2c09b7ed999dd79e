import { type KubeClient, kubeErrors, type KubeObject, type ResourceTypeOf } from "@evenkeel/kube";
import { type RouteRef, serviceKey } from "../../binding.ts";
import { type ActOptions, checkedBy } from "../act-options.ts";
import { GrantMissing, RouteNeedsResolverService, RouteNotFound, RouteWithoutService } from "./errors.ts";
import * as httpRoute from "./http-route.ts";
import type { At, Redirection, Redirected, FormerDestination } from "./redirect.ts";
import * as virtualService from "./virtual-service.ts";

export interface RouteSwitchOptions {
  readonly kube: Pick<KubeClient, "resource">;
  /** The resolver's own Service; undefined if it has none. */
  readonly resolver: Redirection["resolver"] | undefined;
}

/** Annotation on a route: its destinations before the redirect. Any replica can restore them from it. */
const SWITCHED = "evenkeel.io/switched";
/** Maximum writes of one route per call. */
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

/** The differences between the kinds of routes. */
interface RouteKind {
  readonly type: ResourceTypeOf<Route>;
  readonly field: string;
  redirect(rules: readonly never[], redirection: Redirection): Redirected<readonly unknown[]>;
  restore(rules: readonly never[], was: readonly FormerDestination[], redirection: Redirection): readonly unknown[];
  isRedirected(rules: readonly never[], redirection: Redirection): boolean;
  isRedirectedAt(rules: readonly never[], at: At, redirection: Redirection): boolean;
}

/** A route as read; absent if it does not exist. */
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
 * Redirects the requests of a route to the resolver and restores them, in addition to the Service's endpoints: some
 * meshes and gateways do not use those endpoints.
 */
export class RouteSwitch {
  readonly #options: RouteSwitchOptions;
  /**
   * The routes that are redirected and not restored yet, by Service. The status names only one, and may be older than
   * the last write.
   */
  readonly #redirected = new Map<string, Map<string, RouteRef>>();

  constructor(options: RouteSwitchOptions) {
    this.#options = options;
  }

  /**
   * Redirects every destination of the route that is the Service to the resolver. Can be repeated, also after another
   * client restored the route.
   */
  async join(namespace: string, service: string, ref: RouteRef, options: ActOptions = {}): Promise<void> {
    const { resolver } = this.#options;
    const shown = `${KINDS[ref.type].type.kind} ${namespace}/${ref.name}`;
    if (!resolver) throw new RouteNeedsResolverService({ route: shown });
    const redirection = { namespace, service, resolver };
    if (ref.type === "httpRoute") await this.#checkGrant(redirection, options);
    await this.#change(namespace, ref, options, ({ kind, route, rules }) => {
      if (!route) throw new RouteNotFound({ route: shown });
      const { rules: redirected, was } = kind.redirect(rules as never[], redirection);
      if (was.length === 0) {
        if (kind.isRedirected(rules as never[], redirection)) return undefined;
        throw new RouteWithoutService({ route: shown, service });
      }
      // If another client restored a destination, the record of it is dropped, and its new value is recorded.
      const kept = formerDestinations(route).filter(
        (one) => one.service !== service || kind.isRedirectedAt(rules as never[], one.at, redirection),
      );
      return { rules: redirected, was: [...kept, ...was] };
    });
    const key = serviceKey(namespace, service);
    this.#redirected.set(key, (this.#redirected.get(key) ?? new Map<string, RouteRef>()).set(idOf(ref), ref));
  }

  /** Restores the named routes and all others that this process redirected for the Service, except `kept`. */
  async leave(
    namespace: string,
    service: string,
    named: readonly (RouteRef | null | undefined)[],
    { kept, ...options }: ActOptions & { readonly kept?: RouteRef | null } = {},
  ): Promise<void> {
    const key = serviceKey(namespace, service);
    const redirected = this.#redirected.get(key);
    const routes = new Map(redirected);
    for (const ref of named) if (ref) routes.set(idOf(ref), ref);
    if (kept) routes.delete(idOf(kept));
    for (const [id, ref] of routes) {
      await this.#restore(namespace, service, ref, options);
      redirected?.delete(id);
    }
    if (redirected?.size === 0) this.#redirected.delete(key);
  }

  /** A route that was deleted needs no restore. */
  async #restore(namespace: string, service: string, ref: RouteRef, options: ActOptions): Promise<void> {
    const { resolver } = this.#options;
    if (!resolver) return;
    const redirection = { namespace, service, resolver };
    await this.#change(namespace, ref, options, ({ kind, route, rules }) => {
      if (!route) return undefined;
      const was = formerDestinations(route);
      const others = was.filter((one) => one.service !== service);
      if (others.length === was.length && !kind.isRedirected(rules as never[], redirection)) return undefined;
      return { rules: kind.restore(rules as never[], was, redirection), was: others };
    });
  }

  /** Reads the route again after a conflict: others write routes too, such as for another Service in the same route. */
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

  /**
   * A gateway follows a reference into another namespace only if a ReferenceGrant there allows it. Otherwise it answers
   * 500.
   */
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

function formerDestinations({ metadata }: Route): readonly FormerDestination[] {
  try {
    const was: unknown = JSON.parse(metadata.annotations?.[SWITCHED] ?? "[]");
    return Array.isArray(was) ? was.filter(isFormerDestination) : [];
  } catch {
    return [];
  }
}

function isFormerDestination(value: unknown): value is FormerDestination {
  const { at, service, was } = (value ?? {}) as Readonly<Record<string, unknown>>;
  const isPosition = Array.isArray(at) && at.length === 2 && at.every(Number.isInteger);
  return typeof service === "string" && isPosition && typeof was === "object" && was !== null;
}
