import { kubeSettings } from "@evenkeel/kube";
import { setting } from "@evenkeel/runtime";
import { addresses } from "./setting-kinds.ts";

/** How answers are shown; every verb has it. */
export const outputSettings = {
  output: setting.choice("table", "json")({ default: "table", aliases: ["o"], help: "A table for people, or JSON" }),
};

/** How services are reached: directly, or through the API server's proxy with the rights of the kubeconfig's user. */
export const reachSettings = {
  address: addresses({
    help: "Admin ports to ask, such as http://127.0.0.1:8080, rather than the services of a cluster",
  }),
  service: setting.list({ optional: true, help: "Ask these services only" }),
  serviceNamespace: setting.text({
    optional: true,
    help: "Namespace of the services; that of their charts unless set",
  }),
  deadline: setting.duration({ default: "10s", help: "How long a service may take to answer" }),
  kubeconfig: kubeSettings.kubeconfig,
  kubeContext: { ...kubeSettings.kubeContext, aliases: ["context"] },
};

export const commonSettings = { ...outputSettings, ...reachSettings };
