/** A route with a base backend and one whose weight follows a metric. */
export function httpRoute(namespace: string) {
  const backendRefs = [
    { name: "base", port: 80, weight: 8 },
    { name: "burst", port: 80, weight: 1 },
  ];
  return {
    apiVersion: "gateway.networking.k8s.io/v1",
    kind: "HTTPRoute",
    metadata: { name: "shop", namespace },
    spec: { hostnames: ["shop.example.com"], rules: [{ backendRefs }] },
  } as const;
}

/** The weight of `burst` is 8 for each 1000 of the query's value beyond the first. */
export function routeRebalance(namespace: string, query: string): object {
  return {
    apiVersion: "rebalancer.ch1aki.github.io/v1",
    kind: "Rebalance",
    metadata: { name: "hello", namespace },
    spec: {
      interval: "1s",
      policy: { targettracking: { targetValue: 1000, baseValue: 8 } },
      target: { httpRoute: { name: "shop", backend: "burst" } },
      metrics: { prometheus: { address: `http://metrics.${namespace}`, query } },
    },
  };
}
