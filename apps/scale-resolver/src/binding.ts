import type { ElastiService } from "@evenkeel/api";
import type { ProbeRules } from "./gateway/gate/probe-rules.ts";

/** A Service that is looked after, and how: an ElastiService in the terms of this program, with every default filled in. */
export interface Binding {
  /** The ElastiService's. */
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly generation: number;
  /** The Service's name; it is in the same namespace. */
  readonly service: string;
  readonly target: TargetRef;
  readonly minReplicas: number;
  /** Milliseconds for which the triggers must have said idle before the workload sleeps. */
  readonly cooldown: number;
  /** Milliseconds without a request, with the resolver in the path, before the workload sleeps. */
  readonly quiet: number;
  readonly triggers: readonly Trigger[];
  /** When the workload may sleep; null: always. */
  readonly enabledPeriod: EnabledPeriod | null;
  readonly dryRun: boolean;
  /** What else scales the workload; null: nothing is known of. */
  readonly autoscaler: AutoscalerRef | null;
  /** The ScaledObject to make; null: somebody else makes it, or there is none. */
  readonly scaledObject: MadeScaledObject | null;
  readonly hold: HoldPolicy;
  readonly probes: ProbeRules;
  readonly dial: "pod" | "service";
  /** The route that is switched beside the Service's endpoints; null: none is. */
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

/** A ScaledObject that is made here, with this resolver as its scaler. */
export interface MadeScaledObject {
  readonly name: string;
  readonly maxReplicas: number;
  readonly targetConcurrency: number;
}

/** How requests wait. Times are milliseconds. */
export interface HoldPolicy {
  readonly timeout: number;
  readonly maxPending: number;
  readonly maxPendingBytes: number;
  /** Requests that a pod gets at once; null: as many as it takes, beginning with few. */
  readonly concurrencyPerPod: number | null;
  readonly retryAfterSeconds: number;
  /** The answer to a request that finds no room; null: 503 with Retry-After. */
  readonly placeholder: { readonly status: number; readonly body: string; readonly contentType: string } | null;
}

/** A request that is answered here while nothing serves, without a wake. Absent parts match everything. */
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
