import { kubeSettings } from "@evenkeel/kube";
import { setting } from "@evenkeel/runtime";
import { addresses } from "./setting-kinds.ts";

/** How answers are shown; every verb has it. */
export const outputSettings = {
  output: setting.choice("table", "json")({ default: "table", aliases: ["o"], help: "Output format" }),
};

/** How to connect to services: by address, or through the API server's services/proxy as the user of the kubeconfig. */
export const reachSettings = {
  address: addresses({
    help: "Addresses of admin ports, such as http://127.0.0.1:8080, to use instead of a cluster",
  }),
  tokenFile: setting.text({
    optional: true,
    help: "File with a bearer token for --address, for services with --read-access=token",
  }),
  service: setting.list({ optional: true, help: "Use these services only" }),
  serviceNamespace: setting.text({
    optional: true,
    help: "Namespace of the services (default: found by label, or evenkeel-system)",
  }),
  deadline: setting.duration({ default: "10s", help: "Time limit for each request" }),
  kubeconfig: kubeSettings.kubeconfig,
  kubeContext: { ...kubeSettings.kubeContext, aliases: ["context"] },
};

export const commonSettings = { ...outputSettings, ...reachSettings };
