/** A StatefulSet as the original makes it for an object of this name, before it had an owner. */
export function originalSet(name: string, replicas: number): object {
  const labels = {
    "app.kubernetes.io/managed-by": "collector-load-balancer",
    "app.kubernetes.io/instance": `default__${name}`,
  };
  const env = [
    { name: "AOT_CONFIG_CONTENT", value: "old" },
    { name: "AWS_REGION", value: "us-west-2" },
  ];
  const ports = [{ containerPort: 8520 }, { containerPort: 8521 }];
  return {
    apiVersion: "apps/v1",
    kind: "StatefulSet",
    metadata: { name: `${name}-collector`, namespace: "default", labels },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { containers: [{ name: "aoc2", image: "clbotelcol:latest", imagePullPolicy: "Always", env, ports }] },
      },
    },
  };
}
