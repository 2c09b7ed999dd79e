import type { ElastiService } from "@evenkeel/api";
import type { ProbeRules } from "./gateway/gate/probe-rules.ts";

/** A Service that scale-resolver manages: an ElastiService with every default filled in. */
export interface Binding {
  /** Namespace of the ElastiService and of its Service. */
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly generation: number;
  /** Name of the Service. */
  readonly service: string;
  readonly target: TargetRef;
  readonly minReplicas: number;
  /** Milliseconds for which the triggers must report idle before the workload sleeps. */
  readonly cooldown: number;
  /** Milliseconds without a request, while requests are redirected to the resolver, before the workload sleeps. */
  readonly quiet: number;
  readonly triggers: readonly Trigger[];
  /** When the workload may sleep; null: always. */
  readonly enabledPeriod: EnabledPeriod | null;
  readonly dryRun: boolean;
  /** The autoscaler of the workload; null if none is known. */
  readonly autoscaler: AutoscalerRef | null;
  /** The ScaledObject that scale-resolver creates; null if it creates none. */
  readonly scaledObject: MadeScaledObject | null;
  readonly hold: HoldPolicy;
  readonly probes: ProbeRules;
  /** Ports of the Service at which requests wake the workload, by number or name; empty: all. */
  readonly wakePorts: readonly (string | number)[];
  readonly dial: "pod" | "service";
  /** The route that is redirected in addition to the Service's endpoints; null: none. */
  readonly route: RouteRef | null;
}

export type Trigger = NonNullable<ElastiService["spec"]["triggers"]>[number];

export type EnabledPeriod = NonNullable<ElastiService["spec"]["enabledPeriod"]>;

export interface RouteRef {
  readonly type: "virtualService" | "httpRoute";
  readonly name: string;
}

export interface TargetRef {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
}

export interface AutoscalerRef {
  readonly type: "hpa" | "keda";
  readonly name: string;
}

/** A ScaledObject that scale-resolver creates, with itself as the scaler. */
export interface MadeScaledObject {
  readonly name: string;
  readonly maxReplicas: number;
  readonly targetConcurrency: number;
}

/** Limits for waiting requests. Times are in milliseconds. */
export interface HoldPolicy {
  /** What clients speak. `auto`: HTTP is detected, other connections are forwarded as they are. */
  readonly protocol: "auto" | "http" | "tcp";
  readonly timeout: number;
  readonly maxPending: number;
  readonly maxPendingBytes: number;
  /** Maximum concurrent requests per pod; null: starts low and increases. */
  readonly concurrencyPerPod: number | null;
  readonly retryAfterSeconds: number;
  /** The response to a request when the queue is full; null: 503 with Retry-After. */
  readonly placeholder: { readonly status: number; readonly body: string; readonly contentType: string } | null;
}

/**
 * A request that the resolver answers itself while no pod is ready, without a wake. An absent part matches everything.
 */
export interface ProbeRule {
  readonly path?: { readonly type: "Exact" | "PathPrefix" | "RegularExpression"; readonly value: string };
  readonly headers: readonly ValueRule[];
  readonly queryParams: readonly ValueRule[];
  readonly method?: string;
  readonly response: { readonly status: number; readonly body: string };
}

export interface ValueRule {
  readonly name: string;
  readonly type: "Exact" | "RegularExpression";
  readonly value: string;
}

/** `shop/checkout`: the key of a Service, in the gate and in metrics. */
export function serviceKey(namespace: string, service: string): string {
  return `${namespace}/${service}`;
}
