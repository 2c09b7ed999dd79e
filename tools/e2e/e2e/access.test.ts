import { readFileSync } from "node:fs";
import { describe, expect, test } from "@jest/globals";
import { waitUntil } from "@evenkeel/control-plane";
import { apply, kubectl, TEST_TIMEOUT_MS, useCluster } from "../src/index.ts";

const cluster = useCluster({ name: "access", nodes: 0, audit: true });

interface WhoAmI {
  readonly status: { readonly userInfo: { readonly username: string; readonly groups: readonly string[] } };
}

interface AuditEvent {
  readonly verb: string;
  readonly user: { readonly username: string };
  readonly objectRef?: { readonly resource?: string };
  readonly responseStatus?: { readonly code?: number };
}

function readerRole(group: string): object[] {
  const metadata = { name: `${group}-read-pods`, namespace: "default" };
  const apiGroup = "rbac.authorization.k8s.io";
  const rules = [{ apiGroups: [""], resources: ["pods"], verbs: ["list"] }];
  return [
    { apiVersion: `${apiGroup}/v1`, kind: "Role", metadata, rules },
    {
      apiVersion: `${apiGroup}/v1`,
      kind: "RoleBinding",
      metadata,
      subjects: [{ kind: "Group", name: group, apiGroup }],
      roleRef: { kind: "Role", name: metadata.name, apiGroup },
    },
  ];
}

describe("a user with a certificate", () => {
  test(
    "is known by name and group, is forbidden everything, and is allowed what a bound Role grants",
    async () => {
      const kubeconfig = await cluster().kubeconfigFor({ user: "alice", groups: ["readers"] });
      const whoAmI = JSON.parse(await kubectl(cluster(), ["auth", "whoami", "-o", "json"], { kubeconfig })) as WhoAmI;
      expect(whoAmI.status.userInfo.username).toBe("alice");
      expect(whoAmI.status.userInfo.groups).toEqual(["readers", "system:authenticated"]);

      const forbidden = await cluster().kubectl(["get", "pods"], { kubeconfig });
      expect(forbidden.code).toBe(1);
      expect(forbidden.stderr).toContain(
        'Error from server (Forbidden): pods is forbidden: User "alice" cannot list resource "pods" in API group "" in the namespace "default"',
      );

      await apply(cluster(), ...readerRole("readers"));
      await waitUntil("alice may list pods", async () => {
        const { code, stderr } = await cluster().kubectl(["get", "pods"], { kubeconfig });
        return code === 0 ? undefined : stderr;
      });
      const elsewhere = await cluster().kubectl(["get", "pods", "-n", "kube-system"], { kubeconfig });
      expect(elsewhere.stderr).toContain("Error from server (Forbidden)");
    },
    TEST_TIMEOUT_MS,
  );

  test("gets one kubeconfig however often it is asked for, and another user gets another", async () => {
    const first = await cluster().kubeconfigFor({ user: "bob" });
    expect(await cluster().kubeconfigFor({ user: "bob" })).toBe(first);
    expect(await cluster().kubeconfigFor({ user: "bob", groups: ["readers"] })).not.toBe(first);
  });

  test(
    "leaves its verbs and their outcome in the audit log",
    async () => {
      const kubeconfig = await cluster().kubeconfigFor({ user: "carol" });
      await cluster().kubectl(["get", "secrets"], { kubeconfig });
      await waitUntil("the log shows the refused list", () => {
        const events = readFileSync(cluster().auditLog ?? "", "utf8")
          .split("\n")
          .filter((line) => line.includes("carol"))
          .map((line) => JSON.parse(line) as AuditEvent);
        const refused = events.some(
          ({ verb, user, objectRef, responseStatus }) =>
            verb === "list" &&
            user.username === "carol" &&
            objectRef?.resource === "secrets" &&
            responseStatus?.code === 403,
        );
        return refused ? undefined : `${events.length} events of carol`;
      });
    },
    TEST_TIMEOUT_MS,
  );
});

describe("a service account", () => {
  /** Arguments by which kubectl uses a token and nothing else. */
  function withToken(token: string): string[] {
    return [`--server=${cluster().server}`, `--certificate-authority=${cluster().caFile}`, `--token=${token}`];
  }
  const nobody = { kubeconfig: "/dev/null" };

  test(
    "is authenticated by a token that `kubectl create token` makes",
    async () => {
      await kubectl(cluster(), ["create", "serviceaccount", "robot"]);
      const token = (await kubectl(cluster(), ["create", "token", "robot"])).trim();
      const answer = await kubectl(cluster(), [...withToken(token), "auth", "whoami", "-o", "json"], nobody);
      const { userInfo } = (JSON.parse(answer) as WhoAmI).status;
      expect(userInfo.username).toBe("system:serviceaccount:default:robot");
      expect(userInfo.groups).toContain("system:serviceaccounts:default");
    },
    TEST_TIMEOUT_MS,
  );

  test(
    "is not authenticated by a token with another signature",
    async () => {
      const token = (await kubectl(cluster(), ["create", "token", "default"])).trim();
      const [header = "", claims = "", signature = ""] = token.split(".");
      const forged = [header, claims, signature.split("").reverse().join("")].join(".");
      const { code, stderr } = await cluster().kubectl([...withToken(forged), "auth", "whoami"], nobody);
      expect(code).toBe(1);
      expect(stderr).toContain("Unauthorized");
    },
    TEST_TIMEOUT_MS,
  );
});

test(
  "components act under their built-in identities and hold no more rights than those have",
  async () => {
    const may = async (user: string, ...what: string[]): Promise<string> =>
      (await cluster().kubectl(["auth", "can-i", ...what, `--as=${user}`])).stdout.trim();
    expect(await may("system:kube-scheduler", "create", "pods", "--subresource=binding")).toBe("yes");
    expect(await may("system:kube-scheduler", "create", "deployments")).toBe("no");
    expect(await may("system:kube-controller-manager", "create", "pods")).toBe("no");
    expect(await may("system:serviceaccount:kube-system:replicaset-controller", "create", "pods")).toBe("yes");
  },
  TEST_TIMEOUT_MS,
);
