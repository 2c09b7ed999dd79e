import { dashboardContradictions, dashboardSettings } from "@evenkeel/dashboard";
import { kubeSettings, leaseContradictions, leaseSettings } from "@evenkeel/kube";
import { rpcContradictions, rpcSettings } from "@evenkeel/rpc";
import { runtimeSettings, setting, type SettingsOf } from "@evenkeel/runtime";
import { stateSettings } from "@evenkeel/state";

export interface OperatorSettingsOptions {
  /** The objects that the service reconciles, in the plural: `Rebalances`. */
  readonly kind: string;
  /** Default of `--workers`. */
  readonly workers: number;
}

/** What every service can be told. A service's table begins with these: `{ ...operatorSettings({ … }), … }`. */
export function operatorSettings({ kind, workers }: OperatorSettingsOptions) {
  return {
    ...runtimeSettings,
    ...kubeSettings,
    ...leaseSettings,
    ...stateSettings,
    ...rpcSettings,
    ...dashboardSettings,
    leaderElect: setting.boolean({
      default: "true",
      help: "Act only while holding the Lease; set to false only if there is exactly one replica",
    }),
    leaseNamespace: setting.text({ default: "default", env: ["POD_NAMESPACE"], help: "Namespace of the Lease" }),
    watchNamespaces: setting.list({
      optional: true,
      help: `Namespaces whose ${kind} are managed; all if empty or not set`,
    }),
    workers: setting.integer(1, 10_000)({ default: String(workers), help: `${kind} that are reconciled at once` }),
  };
}

/**
 * For a service that replaces another controller, which must not act at the same time. `original` names that
 * controller.
 */
export function originalLeaseSetting(lease: string, original: string) {
  return {
    originalLease: setting.text({
      default: lease,
      help: `Name of the Lease by which ${original} leads, or namespace/name; while it is renewed, nothing is changed`,
    }),
  };
}

export type OperatorSettings = SettingsOf<ReturnType<typeof operatorSettings>>;

/** Settings that contradict each other: one line each, saying what to change. */
export function operatorContradictions(settings: OperatorSettings): readonly string[] {
  return [...leaseContradictions(settings), ...rpcContradictions(settings), ...dashboardContradictions(settings)];
}
