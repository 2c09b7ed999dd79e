import type { KubeObject, ResourceTypeOf } from "@evenkeel/kube";
import { NAMESPACE } from "./manifests.ts";

const GATEWAY = "gateway.networking.k8s.io";

export interface Route extends KubeObject {
  readonly spec: Readonly<Record<string, unknown>>;
}

/** A kind of route that `spec.switch` may name. */
export interface RouteKind {
  /** As `spec.switch.type` has it. */
  readonly type: "virtualService" | "httpRoute";
  readonly resource: ResourceTypeOf<Route>;
  /** A user's route to the Service of the same name, with many fields that must not change. */
  readonly manifest: (name: string) => Route;
  /** The destination in the route while it is redirected to the resolver of a namespace. */
  readonly switched: (name: string, home: string) => Readonly<Record<string, unknown>>;
}

const metadata = (name: string) => ({
  ...{ name, namespace: NAMESPACE, labels: { team: "shop" } },
  annotations: { "example.com/owner": "shop" },
});

const virtualService: RouteKind = {
  type: "virtualService",
  resource: {
    ...{ group: "networking.istio.io", version: "v1", namespaced: true },
    ...{ kind: "VirtualService", plural: "virtualservices" },
  },
  manifest: (name) => ({
    ...{ apiVersion: "networking.istio.io/v1", kind: "VirtualService", metadata: metadata(name) },
    spec: virtualServiceSpec(name, {
      destination: { host: name, subset: "v1", port: { number: 80 } },
      headers: {
        request: { set: { "x-team": "shop" }, remove: ["x-debug"] },
        response: { add: { "x-served": "shop" } },
      },
    }),
  }),
  switched: (name, home) =>
    virtualServiceSpec(name, {
      destination: { host: `scale-resolver.${home}.svc.cluster.local`, port: { number: 8012 } },
      headers: {
        request: {
          set: { "x-team": "shop", "x-evenkeel-service": `${name}.${NAMESPACE}:80` },
          remove: ["x-debug"],
        },
        response: { add: { "x-served": "shop" } },
      },
    }),
};

function virtualServiceSpec(name: string, own: object) {
  return {
    hosts: [name, `${name}.example.com`],
    gateways: ["mesh", "istio-system/edge"],
    exportTo: ["."],
    http: [
      {
        ...{ name: "static", match: [{ uri: { prefix: "/static" } }], rewrite: { uri: "/" } },
        route: [{ destination: { host: "assets" } }],
      },
      {
        ...{ name: "main", match: [{ uri: { prefix: "/" } }], timeout: "300s" },
        retries: { attempts: 2, perTryTimeout: "2s", retryOn: "connect-failure" },
        corsPolicy: { allowOrigins: [{ exact: "https://example.com" }], maxAge: "24h" },
        mirror: { host: "shadow" },
        mirrorPercentage: { value: 12.5 },
        route: [
          { ...own, weight: 100 },
          { destination: { host: "canary" }, weight: 0 },
        ],
      },
    ],
    tls: [{ match: [{ port: 443, sniHosts: ["example.com"] }], route: [{ destination: { host: name } }] }],
  };
}

export const httpRoute: RouteKind = {
  type: "httpRoute",
  resource: {
    ...{ group: GATEWAY, version: "v1", namespaced: true },
    ...{ kind: "HTTPRoute", plural: "httproutes" },
  },
  manifest: (name) => ({
    ...{ apiVersion: `${GATEWAY}/v1`, kind: "HTTPRoute", metadata: metadata(name) },
    spec: httpRouteSpec(name, {
      ...{ name, port: 80 },
      filters: [
        {
          type: "RequestHeaderModifier",
          requestHeaderModifier: { set: [{ name: "x-team", value: "shop" }], remove: ["x-debug"] },
        },
      ],
    }),
  }),
  switched: (name, home) =>
    httpRouteSpec(
      name,
      {
        ...{ group: "", kind: "Service", name: "scale-resolver", namespace: home, port: 8012 },
        filters: [
          {
            type: "RequestHeaderModifier",
            requestHeaderModifier: {
              set: [
                { name: "x-team", value: "shop" },
                { name: "x-evenkeel-service", value: `${name}.${NAMESPACE}:80` },
              ],
              remove: ["x-debug"],
            },
          },
        ],
      },
      // What the API server has filled in.
      { group: "", kind: "Service", weight: 1 },
    ),
};

function httpRouteSpec(name: string, own: object, others: object = {}) {
  return {
    parentRefs: [{ name: "edge", namespace: "istio-system", sectionName: "https" }],
    hostnames: [`${name}.example.com`],
    rules: [
      {
        matches: [{ path: { type: "PathPrefix", value: "/static" } }],
        backendRefs: [{ ...others, name: "assets", port: 80 }],
      },
      {
        ...{ name: "main", matches: [{ path: { type: "PathPrefix", value: "/" } }] },
        filters: [{ type: "ResponseHeaderModifier", responseHeaderModifier: { remove: ["server"] } }],
        timeouts: { request: "300s" },
        backendRefs: [
          { ...own, weight: 100 },
          { ...others, name: "canary", port: 80, weight: 0 },
        ],
      },
    ],
  };
}

export const ROUTE_KINDS: readonly RouteKind[] = [virtualService, httpRoute];

export interface Grant extends KubeObject {
  readonly spec: {
    readonly from: readonly { readonly group: string; readonly kind: string; readonly namespace: string }[];
    readonly to: readonly { readonly group: string; readonly kind: string; readonly name?: string }[];
  };
}

export const referenceGrants: ResourceTypeOf<Grant> = {
  ...{ group: GATEWAY, version: "v1beta1", kind: "ReferenceGrant", plural: "referencegrants", namespaced: true },
};

/** Lets HTTPRoutes of the tests' namespace refer to Services of another. */
export function grantIn(namespace: string): Grant {
  return {
    ...{ apiVersion: `${GATEWAY}/v1beta1`, kind: "ReferenceGrant", metadata: { name: "routes", namespace } },
    spec: { from: [{ group: GATEWAY, kind: "HTTPRoute", namespace: NAMESPACE }], to: [{ group: "", kind: "Service" }] },
  };
}
