import { DEFAULT_COOLDOWN_SECONDS, durationMilliseconds, type ElastiService } from "@evenkeel/api";
import type { Binding, HoldPolicy, MadeScaledObject, ProbeRule, RouteRef, TargetRef } from "../binding.ts";
import { ProbeRules } from "../gateway/gate/probe-rules.ts";

const DEFAULT_QUIET_SECONDS = 15;
const DEFAULT_TIMEOUT = 600_000;
const DEFAULT_MAX_PENDING = 10_000;
const DEFAULT_MAX_PENDING_BYTES = 256 * 2 ** 20;
const DEFAULT_RETRY_AFTER = 5;

type Spec = ElastiService["spec"];

/**
 * The binding of an ElastiService for one Service, with every default filled in; undefined for one that selects
 * Services.
 */
export function bindingOf({ metadata, spec }: ElastiService): Binding | undefined {
  const { service, scaleTargetRef } = spec;
  if (selects(spec) || service === undefined || scaleTargetRef === undefined) return undefined;
  return {
    namespace: metadata.namespace ?? "",
    name: metadata.name,
    uid: metadata.uid ?? "",
    generation: metadata.generation ?? 0,
    service,
    target: targetOf(scaleTargetRef),
    minReplicas: spec.minTargetReplicas ?? 1,
    // 0 means the default, as for KubeElasti.
    cooldown: (spec.cooldownPeriod || DEFAULT_COOLDOWN_SECONDS) * 1000,
    quiet: (spec.quietPeriod ?? DEFAULT_QUIET_SECONDS) * 1000,
    triggers: spec.triggers ?? [],
    enabledPeriod: spec.enabledPeriod ?? null,
    dryRun: spec.dryRun ?? false,
    autoscaler: spec.autoscaler ? { type: spec.autoscaler.type, name: spec.autoscaler.name } : null,
    scaledObject: scaledObjectOf(spec.autoscaler),
    hold: holdOf(spec.hold),
    probes: new ProbeRules((spec.probeResponse ?? []).map(probeOf)),
    wakePorts: spec.wakePorts ?? [],
    dial: spec.dial ?? "pod",
    route: routeOf(spec.switch),
  };
}

/** Whether an ElastiService is a template for the Services that it selects. */
export function selects({ selector, service }: Spec): boolean {
  return selector !== undefined || service === "*";
}

/** Older names of kinds that the original accepts. */
const KINDS: Readonly<Record<string, string>> = { deployments: "Deployment", rollouts: "Rollout" };

function targetOf({ apiVersion, kind, name }: NonNullable<Spec["scaleTargetRef"]>): TargetRef {
  return { apiVersion, kind: KINDS[kind] ?? kind, name };
}

function scaledObjectOf(autoscaler: Spec["autoscaler"]): MadeScaledObject | null {
  if (autoscaler?.type !== "keda" || autoscaler.create !== true) return null;
  const { name, maxReplicas = 100, targetConcurrency = 100 } = autoscaler;
  return { name, maxReplicas, targetConcurrency };
}

function routeOf(chosen: Spec["switch"]): RouteRef | null {
  if (chosen?.name === undefined || chosen.type === "endpointSlice") return null;
  return { type: chosen.type, name: chosen.name };
}

function holdOf(hold: Spec["hold"] = {}): HoldPolicy {
  const { placeholder, overflow } = hold;
  return {
    protocol: hold.protocol ?? "auto",
    timeout: durationMilliseconds(hold.timeout ?? "") ?? DEFAULT_TIMEOUT,
    maxPending: hold.maxPending ?? DEFAULT_MAX_PENDING,
    maxPendingBytes: hold.maxPendingBytes ?? DEFAULT_MAX_PENDING_BYTES,
    concurrencyPerPod: hold.concurrencyPerPod ?? null,
    retryAfterSeconds: hold.retryAfterSeconds ?? DEFAULT_RETRY_AFTER,
    placeholder:
      overflow === "Placeholder" && placeholder
        ? {
            status: placeholder.status ?? 503,
            body: placeholder.body,
            contentType: placeholder.contentType ?? "text/plain; charset=utf-8",
          }
        : null,
  };
}

function probeOf({
  path,
  headers = [],
  queryParams = [],
  method,
  response,
}: NonNullable<Spec["probeResponse"]>[number]): ProbeRule {
  return {
    ...(path === undefined ? {} : { path: { type: path.type ?? "PathPrefix", value: path.value ?? "/" } }),
    headers: headers.map(({ name, type = "Exact", value }) => ({ name, type, value })),
    queryParams: queryParams.map(({ name, type = "Exact", value }) => ({ name, type, value })),
    ...(method === undefined ? {} : { method }),
    response,
  };
}
