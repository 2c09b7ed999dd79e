import { setting, type SettingsOf } from "@evenkeel/runtime";
import type { UsageQueries } from "./prometheus-usage.ts";

const query = (what: string, fallback: string) =>
  setting.text({ default: fallback, help: `Query for ${what}; used with --prometheus-address` });

/** Where usage comes from: Prometheus if it has an address, else metrics.k8s.io. */
export const usageSettings = {
  prometheusAddress: setting.text({
    optional: true,
    help: "Address of a Prometheus server to read usage from, instead of metrics.k8s.io",
  }),
  prometheusNodeCpuQuery: query(
    "cores in use per node (label node)",
    'sum by (node) (rate(container_cpu_usage_seconds_total{id="/"}[5m]))',
  ),
  prometheusNodeMemoryQuery: query(
    "bytes in use per node (label node)",
    'sum by (node) (container_memory_working_set_bytes{id="/"})',
  ),
  prometheusPodCpuQuery: query(
    "cores in use per pod (labels namespace, pod)",
    'sum by (namespace, pod) (rate(container_cpu_usage_seconds_total{container!=""}[5m]))',
  ),
  prometheusPodMemoryQuery: query(
    "bytes in use per pod (labels namespace, pod)",
    'sum by (namespace, pod) (container_memory_working_set_bytes{container!=""})',
  ),
};

export function usageQueries(settings: SettingsOf<typeof usageSettings>): UsageQueries {
  return {
    nodeCpu: settings.prometheusNodeCpuQuery,
    nodeMemory: settings.prometheusNodeMemoryQuery,
    podCpu: settings.prometheusPodCpuQuery,
    podMemory: settings.prometheusPodMemoryQuery,
  };
}
