import { FINALIZER, GRPC_PORT, HTTP_PORT } from "./pod-programs.ts";

/** Where the tests' services are. */
export const NAMESPACE = "demo";

export interface WorkloadOptions {
  readonly namespace?: string;
  readonly replicas?: number;
  /** Seconds for which its pods serve after SIGTERM. */
  readonly grace?: number;
}

/** A workload with pods that run the programs of `PodPrograms`. */
export function workload(
  kind: "Deployment" | "StatefulSet" | "ReplicaSet",
  name: string,
  options: WorkloadOptions = {},
) {
  const { namespace = NAMESPACE, replicas = 1, grace = 1 } = options;
  const labels = { app: name };
  const ports = [{ containerPort: HTTP_PORT }, { containerPort: GRPC_PORT }];
  const spec = {
    terminationGracePeriodSeconds: grace,
    containers: [{ name: "main", image: "example.invalid/none", ports }],
  };
  return {
    apiVersion: "apps/v1",
    kind,
    metadata: { name, namespace },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels, finalizers: [FINALIZER] }, spec },
      ...(kind === "StatefulSet" && { serviceName: name }),
    },
  };
}

/** A Service with two ports before the pods of `workload(name)`. */
export function service(name: string, namespace = NAMESPACE, labels?: Readonly<Record<string, string>>) {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name, namespace, ...(labels && { labels }) },
    spec: {
      selector: { app: name },
      ports: [
        { name: "http", port: 80, targetPort: HTTP_PORT },
        { name: "grpc", port: 81, targetPort: GRPC_PORT },
      ],
    },
  };
}

/**
 * An ElastiService of the workload and the Service `name`. Without triggers it only wakes, and follows other clients
 * that scale.
 */
export function elastiService(name: string, change: Readonly<Record<string, unknown>> = {}, namespace = NAMESPACE) {
  return {
    apiVersion: "elasti.truefoundry.com/v1alpha1",
    kind: "ElastiService",
    metadata: { name, namespace },
    spec: {
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name },
      service: name,
      minTargetReplicas: 1,
      cooldownPeriod: 1,
      quietPeriod: 1,
      ...change,
    },
  };
}

export function namespaceOf(name: string) {
  return { apiVersion: "v1", kind: "Namespace", metadata: { name } };
}
