import { beforeAll, describe, expect, test } from "@jest/globals";
import { systemClock } from "@evenkeel/runtime";
import { eventually } from "@evenkeel/runtime/testing";
import { AccessReviewer } from "../access/access-reviewer.ts";
import { ServiceAccountToken } from "../access/service-account-token.ts";
import * as errors from "../errors.ts";
import { clusterRoles, serviceAccounts } from "../objects/resource-types.ts";
import { connectKube, type KubeClient } from "../wire/client.ts";
import { clusterRoleBindings } from "./rbac-types.ts";
import { refused, type World } from "./world.ts";

const USER = "contract-impersonator";
const { signal } = new AbortController();

interface Whoami {
  readonly username: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** Who the server takes a request to be from. */
async function whoami(client: KubeClient, headers: Readonly<Record<string, string>> = {}): Promise<Whoami> {
  const answer = await client.request({
    ...{ method: "POST", path: "/apis/authentication.k8s.io/v1/selfsubjectreviews", headers },
    body: { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" },
  });
  return (answer as { readonly status: { readonly userInfo: Whoami } }).status.userInfo;
}

/** Impersonation, and tokens of service accounts. */
export function identityContract(world: World): void {
  let namespace: string;
  let user: KubeClient;
  beforeAll(async () => {
    namespace = await world.namespace();
    user = await world.harness.client(USER);
  });

  describe("impersonation", () => {
    test("makes a request one of the user, with groups, uid and extra values", async () => {
      const headers = {
        ...{ "impersonate-user": "ann", "impersonate-group": "dev", "impersonate-uid": "u1" },
        "impersonate-extra-example.com%2fteam": "red",
      };
      expect(await whoami(world.admin, headers)).toEqual({
        ...{ username: "ann", uid: "u1", groups: ["dev", "system:authenticated"] },
        extra: { "example.com/team": ["red"] },
      });
    });

    test("of a service account gives it the groups of its namespace", async () => {
      const { groups } = await whoami(world.admin, { "impersonate-user": `system:serviceaccount:${namespace}:web` });
      expect(groups).toEqual(["system:serviceaccounts", `system:serviceaccounts:${namespace}`, "system:authenticated"]);
    });

    test("without a user is a bad request", async () => {
      const error = await refused(whoami(world.admin, { "impersonate-group": "dev" }), errors.BadRequest);
      expect(error.status).toBe(400);
    });

    test.each([
      ["users", { "impersonate-user": "ann" }],
      ["serviceaccounts", { "impersonate-user": "system:serviceaccount:default:web" }],
    ])("without the right to %s is Forbidden", async (_, headers) => {
      const error = await refused(whoami(user, headers), errors.Forbidden);
      expect(error.status).toBe(403);
      expect(error.message).toContain(`User "${USER}" cannot impersonate`);
    });

    test("needs a right to each value", async () => {
      const apiGroup = "rbac.authorization.k8s.io";
      const metadata = { name: `${namespace}-impersonator` };
      const rule = (group: string, resources: string[], names: string[]) => ({
        ...{ apiGroups: [group], resources, verbs: ["impersonate"], resourceNames: names },
      });
      await world.admin.resource(clusterRoles).create({
        metadata,
        rules: [
          rule("", ["users"], ["ann"]),
          rule("", ["groups"], ["dev"]),
          rule("authentication.k8s.io", ["uids"], ["u1"]),
          rule("authentication.k8s.io", ["userextras/example.com/team"], ["red"]),
        ],
      });
      await world.admin.resource(clusterRoleBindings).create({
        metadata,
        roleRef: { apiGroup, kind: "ClusterRole", name: metadata.name },
        subjects: [{ apiGroup, kind: "User", name: USER }],
      });
      const ann = { "impersonate-user": "ann" };
      const team = "impersonate-extra-example.com%2fteam";
      await eventually(async () => (await whoami(user, ann).catch(() => undefined))?.username === "ann");
      const whole = { ...ann, "impersonate-group": "dev", "impersonate-uid": "u1", [team]: "red" };
      expect(await whoami(user, whole)).toMatchObject({ username: "ann", uid: "u1" });
      const refusals = [
        { ...whole, "impersonate-user": "bob" },
        { ...whole, "impersonate-group": "system:masters" },
        { ...whole, "impersonate-uid": "u2" },
        { ...whole, [team]: "blue" },
        { ...whole, "impersonate-extra-other": "red" },
      ];
      for (const headers of refusals) await refused(whoami(user, headers), errors.Forbidden);
    });
  });

  describe("the token of a service account", () => {
    const account = (name: string) => ({ namespace, name });
    const source = (name: string, seconds = 600) =>
      new ServiceAccountToken({ kube: world.admin, clock: systemClock, account: account(name), seconds });

    test("is one of that account, whole, by TokenReview and by use", async () => {
      const { metadata } = await world.admin.resource(serviceAccounts).create({ metadata: account("caller") });
      const token = await source("caller").token();
      const who = await new AccessReviewer(world.admin).identify(token, signal);
      expect(who).toMatchObject({
        ...{ user: `system:serviceaccount:${namespace}:caller`, uid: metadata.uid },
        groups: ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, "system:authenticated"],
        extra: { "authentication.kubernetes.io/credential-id": [expect.stringMatching(/^JTI=/)] },
      });
      const { server, tls } = await world.admin.access();
      const target = { server, ca: tls.ca, headers: { authorization: `Bearer ${token}` } };
      const settings = {
        ...{ kubeconfig: undefined, kubeContext: undefined, kubeDeadline: 30_000 },
        ...{ kubeConnections: 1, kubeQps: 0, kubeBurst: 1 },
      };
      const client = connectKube({ settings, target, env: {}, userAgent: "contract" });
      try {
        expect(await whoami(client)).toMatchObject({ username: who?.user, uid: metadata.uid });
      } finally {
        await client.stop();
      }
    });

    test("is not valid once the account is deleted", async () => {
      await world.admin.resource(serviceAccounts).create({ metadata: account("leaver") });
      const token = await source("leaver").token();
      await world.admin.resource(serviceAccounts).delete(account("leaver"));
      const reviewer = new AccessReviewer(world.admin);
      await eventually(async () => (await reviewer.identify(token, signal)) === undefined);
    });

    test("is valid for ten minutes at least", async () => {
      await world.admin.resource(serviceAccounts).create({ metadata: account("hasty") });
      await refused(Promise.resolve(source("hasty", 60).token()), errors.Invalid);
    });

    test("of an account that does not exist is NotFound", async () => {
      await refused(Promise.resolve(source("nobody").token()), errors.NotFound);
    });
  });
}
