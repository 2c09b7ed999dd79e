import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { settings } from "../src/settings.ts";

const RBAC = "rbac.authorization.k8s.io";
const RULES = join(import.meta.dirname, "../../../charts/weight-rebalancer/templates/_rules.tpl");

/** Whom the service is to the API server of these tests. */
export const SERVICE_USER = "weight-rebalancer";

/** The rules that the chart grants under a name: what is not there, the service must do without. */
function chartRules(name: string): readonly object[] {
  const [, body = ""] = readFileSync(RULES, "utf8").split(`{{- define "weight-rebalancer.rules.${name}" -}}`);
  const [lines = ""] = body.split("{{- define");
  const yaml = lines
    .split("\n")
    .filter((line) => !line.startsWith("{{-"))
    .join("\n")
    .replace("{{ .Values.settings.originalLease }}", settings.originalLease.default ?? "");
  return parse(yaml) as readonly object[];
}

/** A role of these rights, and who has it. Its Lease is in another namespace in each test, so that the last is for all of them. */
export const serviceAccess: readonly object[] = ["objects", "cluster", "own"].flatMap((name) => [
  {
    apiVersion: `${RBAC}/v1`,
    kind: "ClusterRole",
    metadata: { name: `${SERVICE_USER}-${name}` },
    rules: chartRules(name),
  },
  {
    apiVersion: `${RBAC}/v1`,
    kind: "ClusterRoleBinding",
    metadata: { name: `${SERVICE_USER}-${name}` },
    roleRef: { apiGroup: RBAC, kind: "ClusterRole", name: `${SERVICE_USER}-${name}` },
    subjects: [{ apiGroup: RBAC, kind: "User", name: SERVICE_USER }],
  },
]);
