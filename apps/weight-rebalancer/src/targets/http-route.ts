import type { KubeObject, ResourceTypeOf } from "@evenkeel/kube";

/** gateway.networking.k8s.io/v1, as far as weights go. */
export interface HttpRoute extends KubeObject {
  readonly spec?: { readonly rules?: readonly HttpRouteRule[] };
}

export interface HttpRouteRule {
  readonly name?: string;
  readonly backendRefs?: readonly HttpBackendRef[];
}

export interface HttpBackendRef {
  readonly name: string;
  /** 1 where it is absent, as the API's default is. */
  readonly weight?: number;
}

export const httpRoutes: ResourceTypeOf<HttpRoute> = {
  group: "gateway.networking.k8s.io",
  version: "v1",
  kind: "HTTPRoute",
  plural: "httproutes",
  namespaced: true,
};
