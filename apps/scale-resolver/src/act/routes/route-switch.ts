import { type CallOptions, type KubeClient, kubeErrors, type KubeObject, type ResourceTypeOf } from "@evenkeel/kube";
import type { RouteRef } from "../../binding.ts";
import { GrantMissing, RouteNeedsResolverService, RouteNotFound, RouteWithoutService } from "./errors.ts";
import * as httpRoute from "./http-route.ts";
import type { Detour, Led, Was } from "./led.ts";
import * as virtualService from "./virtual-service.ts";

export interface RouteSwitchOptions {
  readonly kube: Pick<KubeClient, "resource">;
  /** The resolver's own Service; undefined if it has none. */
  readonly resolver: Detour["resolver"] | undefined;
}

/** What was led away from a route, on the route itself: whoever takes over finds it there. */
const SWITCHED = "evenkeel.io/switched";

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
  leadAway(rules: readonly never[], detour: Detour): Led<readonly unknown[]>;
  leadBack(rules: readonly never[], was: readonly Was[], detour: Detour): readonly unknown[];
  leadsToResolver(rules: readonly never[], detour: Detour): boolean;
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

  constructor(options: RouteSwitchOptions) {
    this.#options = options;
  }

  /** Leads every destination of the route that is the Service to the resolver. May be repeated, also after somebody put it back. */
  async join(namespace: string, service: string, ref: RouteRef, options: CallOptions = {}): Promise<void> {
    const { resolver } = this.#options;
    const shown = `${KINDS[ref.type].type.kind} ${namespace}/${ref.name}`;
    if (!resolver) throw new RouteNeedsResolverService({ route: shown });
    const detour = { namespace, service, resolver };
    if (ref.type === "httpRoute") await this.#checkGrant(detour, options);
    const { kind, route, rules } = await this.#read(namespace, ref, options);
    if (!route) throw new RouteNotFound({ route: shown });
    const { rules: led, was } = kind.leadAway(rules as never[], detour);
    if (was.length > 0) await this.#write(kind, route, led, [...wasOf(route), ...was], options);
    else if (!kind.leadsToResolver(rules as never[], detour)) throw new RouteWithoutService({ route: shown, service });
  }

  /** Puts back what was led away. A route that is gone has nothing to put back. */
  async leave(namespace: string, service: string, ref: RouteRef, options: CallOptions = {}): Promise<void> {
    const { resolver } = this.#options;
    if (!resolver) return;
    const { kind, route, rules } = await this.#read(namespace, ref, options);
    if (!route || route.metadata.annotations?.[SWITCHED] === undefined) return;
    const back = kind.leadBack(rules as never[], wasOf(route), { namespace, service, resolver });
    await this.#write(kind, route, back, null, options);
  }

  async #read(namespace: string, { type, name }: RouteRef, options: CallOptions) {
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
    rules: readonly unknown[],
    was: readonly Was[] | null,
    options: CallOptions,
  ): Promise<void> {
    const annotations = { [SWITCHED]: was && JSON.stringify(was) };
    const body = { metadata: { resourceVersion, annotations }, spec: { [field]: rules } };
    await this.#options.kube.resource(type).patch({ namespace, name }, { type: "merge", body }, options);
  }

  /** A gateway follows a reference into another namespace only if somebody there allows it, and answers 500 otherwise. */
  async #checkGrant({ namespace, resolver }: Detour, options: CallOptions): Promise<void> {
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

function wasOf({ metadata }: Route): readonly Was[] {
  try {
    const was: unknown = JSON.parse(metadata.annotations?.[SWITCHED] ?? "[]");
    return Array.isArray(was) ? was.filter(isWas) : [];
  } catch {
    return [];
  }
}

function isWas(value: unknown): value is Was {
  const { at } = (value ?? {}) as { readonly at?: unknown };
  return Array.isArray(at) && at.length === 2 && at.every(Number.isInteger);
}
