import { join } from "node:path";
import { apply, eventually, list, ServiceProcess, TEST_TIMEOUT_MS, useCluster } from "@evenkeel/e2e";
import { beforeAll, expect, test } from "@jest/globals";

const cluster = useCluster({ name: "scale-resolver", nodes: 0 });
let kubeconfig: string;

/** Exactly what the service does: its Lease, and Events. */
const rules = [
  { apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: ["get", "create", "update"] },
  { apiGroups: ["events.k8s.io"], resources: ["events"], verbs: ["create", "patch"] },
];

beforeAll(async () => {
  const rbac = "rbac.authorization.k8s.io";
  const metadata = { name: "scale-resolver", namespace: "default" };
  await apply(
    cluster(),
    { apiVersion: `${rbac}/v1`, kind: "Role", metadata, rules },
    {
      apiVersion: `${rbac}/v1`,
      kind: "RoleBinding",
      metadata,
      roleRef: { apiGroup: rbac, kind: "Role", name: "scale-resolver" },
      subjects: [{ apiGroup: rbac, kind: "User", name: "scale-resolver" }],
    },
  );
  kubeconfig = await cluster().kubeconfigFor({ user: "scale-resolver" });
}, TEST_TIMEOUT_MS);

test(
  "tells its decisions as Events, with the rights that it needs and no more",
  async () => {
    const flags = [`--kubeconfig=${kubeconfig}`, "--insecure", "--grpc-port=0", "--state=sqlite::memory:"];
    await using service = ServiceProcess.start(join(import.meta.dirname, "../src/main.ts"), flags);
    await service.phase("ready");
    await eventually("the Event", async () => {
      const events = await list<{ reason: string }>(cluster(), "events.events.k8s.io");
      return events.some(({ reason }) => reason === "NoData") ? undefined : `there are ${events.length}`;
    });
    service.signal("SIGTERM");
    expect((await service.exit).code).toBe(0);
  },
  TEST_TIMEOUT_MS,
);
