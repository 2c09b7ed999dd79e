import type { Deployment, Pod } from "../objects/resource-types.ts";

const template = (app: string): object => ({
  metadata: { labels: { app } },
  // No scheduler has this name, so pods stay as the cases leave them.
  spec: { schedulerName: "nobody", containers: [{ name: "main", image: "example.com/main:1" }] },
});

/** A deployment that no controller rolls out. */
export function pausedDeployment(namespace: string, name: string, replicas = 0): Deployment {
  return {
    metadata: { namespace, name },
    spec: { paused: true, replicas, selector: { matchLabels: { app: name } }, template: template(name) },
  };
}

/** A pod that is never scheduled. */
export function idlePod(namespace: string, name: string, labels: Record<string, string> = {}): Pod {
  const { spec } = template(name) as { spec: NonNullable<Pod["spec"]> };
  return { metadata: { namespace, name, labels }, spec };
}

/** The status of a ready pod. */
export const readyStatus = {
  phase: "Running",
  conditions: [{ type: "Ready", status: "True", lastTransitionTime: "2026-01-01T00:00:00Z" }],
};
