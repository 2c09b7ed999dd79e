import type { KubeClient, NodeMetrics } from "@evenkeel/kube";
import { quantity } from "@evenkeel/placement";

/** A value of a node, and when it was measured (wall time in milliseconds; NaN if that is not said). */
export interface Measured {
  readonly value: number;
  readonly at: number;
}

export type MeasuredNodes = ReadonlyMap<string, Measured>;

/** CPU use of all nodes in cores, by metrics.k8s.io, whose lists have no resourceVersion. */
export async function cpuUsage(kube: Pick<KubeClient, "request">, signal: AbortSignal): Promise<MeasuredNodes> {
  const path = "/apis/metrics.k8s.io/v1beta1/nodes";
  const list = (await kube.request({ path, verb: "list", what: "NodeMetrics", signal })) as NodeMetricsList;
  return new Map(
    (list.items ?? []).map(({ metadata, usage, timestamp }) => [
      metadata.name ?? "",
      { value: quantity(usage["cpu"] ?? ""), at: Date.parse(timestamp) },
    ]),
  );
}

interface NodeMetricsList {
  readonly items?: readonly NodeMetrics[];
}

interface MetricValueList {
  readonly items?: readonly {
    readonly describedObject?: { readonly name?: string };
    readonly timestamp?: string;
    readonly value?: string;
  }[];
}

/** A metric of all nodes in one answer, by the custom metrics API. */
export async function customMetric(
  kube: Pick<KubeClient, "request">,
  metric: "inlet_temp" | "delta_p",
  signal: AbortSignal,
): Promise<MeasuredNodes> {
  const path = `/apis/custom.metrics.k8s.io/v1beta2/nodes/*/${metric}`;
  const list = (await kube.request({ path, verb: "get", what: `${metric} of nodes`, signal })) as MetricValueList;
  return new Map(
    (list.items ?? []).map(({ describedObject, value = "", timestamp = "" }) => [
      describedObject?.name ?? "",
      { value: quantity(value), at: Date.parse(timestamp) },
    ]),
  );
}
