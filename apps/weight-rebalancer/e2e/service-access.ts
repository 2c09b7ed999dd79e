import { REBALANCE } from "@evenkeel/api";

const RBAC = "rbac.authorization.k8s.io";

/** Whom the service is to the API server of these tests. */
export const SERVICE_USER = "weight-rebalancer";

/** Everything that the service does to the API server: what is not here, it must do without. */
const rules = [
  { apiGroups: [REBALANCE.group], resources: ["rebalances"], verbs: ["get", "list", "watch", "patch"] },
  { apiGroups: [REBALANCE.group], resources: ["rebalances/status"], verbs: ["patch"] },
  { apiGroups: ["gateway.networking.k8s.io"], resources: ["httproutes"], verbs: ["get", "patch"] },
  { apiGroups: [""], resources: ["secrets"], verbs: ["get"] },
  { apiGroups: ["events.k8s.io"], resources: ["events"], verbs: ["create", "patch"] },
  { apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: ["get", "create", "update"] },
  {
    apiGroups: ["coordination.k8s.io"],
    resources: ["leases"],
    resourceNames: ["e7eaa5de.ch1aki.github.io"],
    verbs: ["list"],
  },
];

/** A role of these rights, and who has it. */
export const serviceAccess: readonly object[] = [
  { apiVersion: `${RBAC}/v1`, kind: "ClusterRole", metadata: { name: SERVICE_USER }, rules },
  {
    apiVersion: `${RBAC}/v1`,
    kind: "ClusterRoleBinding",
    metadata: { name: SERVICE_USER },
    roleRef: { apiGroup: RBAC, kind: "ClusterRole", name: SERVICE_USER },
    subjects: [{ apiGroup: RBAC, kind: "User", name: SERVICE_USER }],
  },
];
