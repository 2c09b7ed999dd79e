/**
 * Definitions of kinds that other projects bring, which take any spec: what the charts write for them is theirs to
 * judge.
 */
export function otherProjectsKinds(): readonly object[] {
  const kinds = [
    ["monitoring.coreos.com", "ServiceMonitor", "servicemonitors"],
    ["monitoring.coreos.com", "PrometheusRule", "prometheusrules"],
    ["cert-manager.io", "Certificate", "certificates"],
  ] as const;
  return kinds.map(([group, kind, plural]) => {
    const spec = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
    const schema = { openAPIV3Schema: { type: "object", properties: { spec } } };
    return {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: `${plural}.${group}` },
      spec: {
        group,
        scope: "Namespaced",
        names: { kind, plural, singular: kind.toLowerCase() },
        versions: [{ name: "v1", served: true, storage: true, schema }],
      },
    };
  });
}

/** The addresses of the world that Rebalances of these tests point to. */
export interface World {
  readonly route53: string;
  readonly prometheus: string;
  readonly query: string;
}

/** A Rebalance of the record `blue` of www.example.com, with credentials from the Secret `aws`. */
export function recordRebalance(name: string, namespace: string, world: World, more: object = {}): object {
  const key = (of: string) => ({ name: "aws", key: of });
  const secretRef = { accessKeyIDSecretRef: key("id"), secretAccessKeySecretRef: key("key") };
  const route53 = {
    hostedZoneID: "hostedzone/Z1",
    region: "us-east-1",
    endpoint: world.route53,
    resource: { name: "www.example.com", type: "A", identifier: "blue" },
    auth: { secretRef },
  };
  return rebalance(name, namespace, world, { target: { route53 }, ...more });
}

/** A Rebalance of the backend `burst` of the HTTPRoute `shop`. */
export function routeRebalance(name: string, namespace: string, world: World): object {
  return rebalance(name, namespace, world, { target: { httpRoute: { name: "shop", backend: "burst" } } });
}

function rebalance(name: string, namespace: string, { prometheus, query }: World, spec: object): object {
  return {
    apiVersion: "rebalancer.ch1aki.github.io/v1",
    kind: "Rebalance",
    metadata: { name, namespace },
    spec: {
      interval: "1s",
      policy: { targettracking: { targetValue: 1000, baseValue: 8 } },
      metrics: { prometheus: { address: prometheus, query } },
      ...spec,
    },
  };
}

export function httpRoute(namespace: string): object {
  const backendRefs = [
    { name: "base", port: 80, weight: 8 },
    { name: "burst", port: 80, weight: 1 },
  ];
  return {
    apiVersion: "gateway.networking.k8s.io/v1",
    kind: "HTTPRoute",
    metadata: { name: "shop", namespace },
    spec: { hostnames: ["shop.example.com"], rules: [{ backendRefs }] },
  };
}

export function awsSecret(namespace: string): object {
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "aws", namespace },
    stringData: { id: "test", key: "test" },
  };
}
