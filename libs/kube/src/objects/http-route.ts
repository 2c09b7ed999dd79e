import type { KubeObject, ResourceTypeOf } from "./object.ts";

/** gateway.networking.k8s.io/v1, of which only the backends of rules are typed. */
export interface HttpRoute extends KubeObject {
  readonly spec?: { readonly rules?: readonly HttpRouteRule[] };
}

export interface HttpRouteRule {
  readonly name?: string;
  readonly backendRefs?: readonly HttpBackendRef[];
}

export interface HttpBackendRef {
  readonly name: string;
  /** The route's own when absent. */
  readonly namespace?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly port?: number;
  /** 1 when absent. */
  readonly weight?: number;
  readonly filters?: readonly HttpRouteFilter[];
}

export interface HttpRouteFilter {
  readonly type: string;
  readonly requestHeaderModifier?: {
    readonly set?: readonly { readonly name: string; readonly value: string }[];
  };
}

export const httpRoutes: ResourceTypeOf<HttpRoute> = {
  group: "gateway.networking.k8s.io",
  version: "v1",
  kind: "HTTPRoute",
  plural: "httproutes",
  namespaced: true,
};
