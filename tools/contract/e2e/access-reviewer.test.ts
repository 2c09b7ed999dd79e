import { apply, kubectl, TEST_TIMEOUT_MS, useCluster } from "@evenkeel/e2e";
import { AccessReviewer, connectKube, type KubeClient } from "@evenkeel/kube";
import type { Authorizer } from "@evenkeel/rpc";
import { afterAll, beforeAll, expect, test } from "@jest/globals";

const cluster = useCluster({ name: "reviews", nodes: 0 });
let kube: KubeClient;
let token: string;
let reviewer: Authorizer;

const tanks = { group: "", resource: "configmaps", namespace: "default", name: "tank" };
const { signal } = new AbortController();

beforeAll(async () => {
  const rbac = "rbac.authorization.k8s.io";
  const metadata = { name: "pilot", namespace: "default" };
  await apply(
    cluster(),
    { apiVersion: "v1", kind: "ServiceAccount", metadata },
    {
      apiVersion: `${rbac}/v1`,
      kind: "Role",
      metadata,
      rules: [{ apiGroups: [""], resources: ["configmaps"], resourceNames: ["tank"], verbs: ["patch"] }],
    },
    {
      apiVersion: `${rbac}/v1`,
      kind: "RoleBinding",
      metadata,
      roleRef: { apiGroup: rbac, kind: "Role", name: "pilot" },
      subjects: [{ kind: "ServiceAccount", name: "pilot", namespace: "default" }],
    },
    {
      apiVersion: `${rbac}/v1`,
      kind: "ClusterRoleBinding",
      metadata: { name: "reviewer" },
      roleRef: { apiGroup: rbac, kind: "ClusterRole", name: "system:auth-delegator" },
      subjects: [{ apiGroup: rbac, kind: "User", name: "reviewer" }],
    },
  );
  token = (await kubectl(cluster(), ["create", "token", "pilot"])).trim();
  const kubeconfig = await cluster().kubeconfigFor({ user: "reviewer" });
  const settings = { kubeContext: undefined, kubeDeadline: 30_000, kubeConnections: 4, kubeQps: 0, kubeBurst: 100 };
  kube = connectKube({ settings: { ...settings, kubeconfig }, env: {}, userAgent: "reviews" });
  reviewer = new AccessReviewer(kube);
}, TEST_TIMEOUT_MS);

afterAll(() => kube.stop());

test("a service account may do what its role says, on that object alone", async () => {
  const user = "system:serviceaccount:default:pilot";
  expect(await reviewer.authorize(token, "patch", tanks, signal)).toEqual({ allowed: true, user });
  expect(await reviewer.authorize(token, "delete", tanks, signal)).toEqual({ allowed: false, user });
  expect(await reviewer.authorize(token, "patch", { ...tanks, name: "other" }, signal)).toEqual({
    allowed: false,
    user,
  });
});

test("a token that is nobody's is told apart from a right that is missing", async () => {
  expect(await reviewer.authorize("nobody's", "patch", tanks, signal)).toEqual({ allowed: false });
});

test("nothing is allowed by a server that does not answer", async () => {
  const kubeconfig = await cluster().kubeconfigFor({ user: "reviewer" });
  const settings = { kubeContext: undefined, kubeDeadline: 500, kubeConnections: 1, kubeQps: 0, kubeBurst: 100 };
  const cut = connectKube({ settings: { ...settings, kubeconfig }, env: {}, userAgent: "reviews" });
  cluster().pause("kube-apiserver");
  try {
    await expect(new AccessReviewer(cut).authorize(token, "patch", tanks, signal)).rejects.toMatchObject({
      code: expect.stringMatching(/^EK_KUBE_/),
    });
  } finally {
    cluster().resume("kube-apiserver");
    await cut.stop();
  }
});
