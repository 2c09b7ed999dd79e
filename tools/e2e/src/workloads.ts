/** The status fields of a Pod that tests read. */
export interface Pod {
  readonly spec: { readonly nodeName?: string };
  readonly status: { readonly phase: string; readonly podIP?: string };
}

/** A Deployment with the pod label `app: <name>`. KWOK runs no image, so the image name is arbitrary. */
export function deployment(name: string, replicas: number, namespace = "default"): object {
  const labels = { app: name };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name, namespace },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: "main", image: "example.invalid/none" }] } },
    },
  };
}

/** A PodDisruptionBudget over the pods of `deployment(name)`. */
export function disruptionBudget(name: string, minAvailable: number): object {
  return {
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata: { name, namespace: "default" },
    spec: { minAvailable, selector: { matchLabels: { app: name } } },
  };
}

/** A ConfigMap with one entry: the simplest object. */
export function configMap(name: string, value: string): object {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace: "default" }, data: { value } };
}
