import { usageSettings } from "@evenkeel/eviction-planner/observe";
import { setting } from "@evenkeel/runtime";
import { comparison } from "../setting-kinds.ts";
import { outputSettings, reachSettings } from "../settings.ts";

const { kubeconfig, kubeContext } = reachSettings;

/** Maximum evictions of a plan: enough to show where more of them do not help. */
const DEFAULT_BUDGET = "1000";

export const planSettings = {
  ...outputSettings,
  file: setting.list({
    optional: true,
    aliases: ["f"],
    help: "Files with the output of kubectl get -o json, or of --save, instead of a cluster; - is standard input",
  }),
  policy: setting.text({ optional: true, help: "File with a RebalancePolicy (default: its default values)" }),
  budget: setting.integer(0, 100_000)({ default: DEFAULT_BUDGET, help: "Maximum number of evictions" }),
  compare: comparison({
    help: "Also emulate descheduler's LowNodeUtilization, with a band around the mean in percent (10 unless given)",
  }),
  save: setting.text({ optional: true, help: "File to write the snapshot to that was planned on" }),
  hashNames: setting.boolean({ default: "false", help: "With --save: replace all names with hashes" }),
  deadline: setting.duration({ default: "60s", help: "Time limit for each request" }),
  kubeconfig,
  kubeContext,
  ...usageSettings,
};
