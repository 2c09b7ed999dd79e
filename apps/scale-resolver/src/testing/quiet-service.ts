import type { Binding } from "../binding.ts";
import type { Activity, Path, Policy, Pods, ServiceSnapshot, TriggerReading } from "../decide/snapshot.ts";
import type { Stage } from "../decide/state.ts";
import { ProbeRules } from "../gateway/gate/probe-rules.ts";

/** A Monday, at noon. */
export const NOON = "2026-11-16T12:00:00.000Z";

export function secondsAgo(seconds: number): number {
  return Date.parse(NOON) - seconds * 1000;
}

export const IDLE: TriggerReading = {
  trigger: "prometheus sum(rate(requests[1m]))",
  verdict: "idle",
  message: "0 is below 0.5",
};
export const BUSY: TriggerReading = { ...IDLE, verdict: "busy", message: "7 is not below 0.5" };
export const SILENT: TriggerReading = { ...IDLE, verdict: "unknown", message: "Prometheus does not answer" };

/** Changes to the snapshot below; a part that is null is unknown. */
export interface Changes extends Partial<Omit<ServiceSnapshot, "stage" | "pods" | "path" | "activity" | "policy">> {
  readonly stage?: Partial<Stage>;
  readonly pods?: Partial<Pods> | null;
  readonly path?: Partial<Path>;
  readonly activity?: Partial<Activity> | null;
  readonly policy?: Partial<Policy>;
}

const PODS: Pods = { ready: 2, leaving: 0, starting: 0 };
const ACTIVITY: Activity = { pending: 0, inFlight: 0, requests: 40, lastRequestAt: secondsAgo(900) };

/**
 * A service with nothing that prevents sleep: two pods are ready, its trigger reports idle, and the resolver is not in
 * the path. In a state other than Serve, it has been there for a minute with a verified path.
 */
export function quietService({
  stage,
  pods = {},
  path,
  activity = {},
  policy,
  ...changes
}: Changes = {}): ServiceSnapshot {
  const inPath = stage?.state !== undefined && stage.state !== "Serve";
  return {
    at: NOON,
    elastiService: { namespace: "shop", name: "checkout", generation: 1 },
    service: "checkout",
    dryRun: false,
    blocked: null,
    replicas: 2,
    triggers: [IDLE],
    withinPeriod: true,
    drainPrepared: false,
    createdAt: null,
    idleSince: null,
    ...changes,
    policy: { minReplicas: 1, cooldown: 900_000, quiet: 15_000, settle: 2000, ...policy },
    stage: { state: "Serve", since: secondsAgo(60), purpose: "safety", requests: 40, ...stage },
    pods: pods && { ...PODS, ...pods },
    path: { joined: inPath, resolvers: 1, provenAt: inPath ? secondsAgo(59) : null, ...path },
    activity: activity && { ...ACTIVITY, ...activity },
  };
}

/** The binding of that service. */
export const checkout: Binding = {
  namespace: "shop",
  name: "checkout",
  uid: "5a0e",
  generation: 1,
  service: "checkout",
  target: { apiVersion: "apps/v1", kind: "Deployment", name: "checkout" },
  minReplicas: 1,
  cooldown: 900_000,
  quiet: 15_000,
  triggers: [],
  enabledPeriod: null,
  dryRun: false,
  autoscaler: null,
  scaledObject: null,
  hold: {
    timeout: 600_000,
    maxPending: 10_000,
    maxPendingBytes: 2 ** 28,
    concurrencyPerPod: null,
    retryAfterSeconds: 5,
    protocol: "auto",
    placeholder: null,
  },
  probes: new ProbeRules([]),
  wakePorts: [],
  dial: "pod",
  route: null,
};
