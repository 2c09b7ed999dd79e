import { beforeAll, describe, expect, test } from "@jest/globals";
import { eventually } from "@evenkeel/runtime/testing";
import type { KubeClient } from "../wire/client.ts";
import * as errors from "../errors.ts";
import { configMaps, leases, subjectAccessReviews, tokenReviews } from "../objects/resource-types.ts";
import { roleBindings, roles } from "./rbac-types.ts";
import { refused, WatchReader, type World } from "./world.ts";

const USER = "contract-user";

/** Authentication and authorization. */
export function accessContract(world: World): void {
  let namespace: string;
  let user: KubeClient;

  beforeAll(async () => {
    namespace = await world.namespace();
    user = await world.harness.client(USER);
    await world.configMap(namespace, "open");
    await world.configMap(namespace, "closed");
  });

  const grant = async (name: string, rule: object): Promise<void> => {
    const metadata = { namespace, name };
    const apiGroup = "rbac.authorization.k8s.io";
    await world.admin.resource(roles).create({ metadata, rules: [{ apiGroups: [""], verbs: ["get"], ...rule }] });
    await world.admin.resource(roleBindings).create({
      metadata,
      roleRef: { apiGroup, kind: "Role", name },
      subjects: [{ apiGroup, kind: "User", name: USER }],
    });
  };
  const may = async (verb: string, resource: string, name?: string): Promise<boolean> => {
    const resourceAttributes = { namespace, verb, resource, group: "", ...(name === undefined ? {} : { name }) };
    const review = { metadata: {}, spec: { user: USER, resourceAttributes } };
    const { status } = await world.admin.resource(subjectAccessReviews).create(review);
    return status?.allowed ?? false;
  };

  describe("access", () => {
    test("with an unknown token is Unauthorized", async () => {
      const stranger = await world.harness.stranger();
      const error = await refused(stranger.resource(configMaps).list({ namespace }), errors.Unauthorized);
      expect(error).toMatchObject({ status: 401, recovery: "terminal" });
    });

    test.each(["get", "list", "create", "patch", "delete"] as const)(
      "to %s without a right is Forbidden",
      async (verb) => {
        const resource = user.resource(leases);
        const name = { namespace, name: "a" };
        const calls = {
          get: () => resource.get(name),
          list: () => resource.list({ namespace }),
          create: () => resource.create({ metadata: name }),
          patch: () => resource.patch(name, { type: "merge", body: {} }),
          delete: () => resource.delete(name),
        };
        const error = await refused(calls[verb](), errors.Forbidden);
        expect(error).toMatchObject({ status: 403, reason: "Forbidden", recovery: "terminal" });
        expect(error.message).toContain(
          `User "${USER}" cannot ${verb} resource "leases" in API group "coordination.k8s.io"`,
        );
      },
    );

    test("to watch without a right is Forbidden", async () => {
      await using watch = new WatchReader(user.resource(leases), { namespace });
      await refused(watch.next(), errors.Forbidden);
    });

    test("to all namespaces needs more than a right in one", async () => {
      await grant("lister", { resources: ["configmaps"], verbs: ["list"] });
      await eventually(() => may("list", "configmaps"));
      expect((await user.resource(configMaps).list({ namespace })).items.length).toBeGreaterThanOrEqual(2);
      await refused(user.resource(configMaps).list(), errors.Forbidden);
    });

    test("to one object by its name is no right to another", async () => {
      await grant("opener", { resources: ["configmaps"], resourceNames: ["open"], verbs: ["get", "patch"] });
      await eventually(() => may("get", "configmaps", "open"));
      expect((await user.resource(configMaps).get({ namespace, name: "open" })).metadata.name).toBe("open");
      await refused(user.resource(configMaps).get({ namespace, name: "closed" }), errors.Forbidden);
      await refused(user.resource(configMaps).delete({ namespace, name: "open" }), errors.Forbidden);
    });

    test("can be reviewed", async () => {
      await grant("asked", { resources: ["secrets"], verbs: ["get"] });
      await eventually(() => may("get", "secrets"));
      expect(await may("delete", "secrets")).toBe(false);
    });

    test("with an invalid token is not authenticated", async () => {
      const review = { metadata: {}, spec: { token: "none" } };
      const { status } = await world.admin.resource(tokenReviews).create(review);
      expect(status?.authenticated ?? false).toBe(false);
    });
  });
}
