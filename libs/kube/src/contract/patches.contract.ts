import { beforeAll, describe, expect, test } from "@jest/globals";
import * as errors from "../errors.ts";
import type { JsonPatchOperation } from "../objects/resource.ts";
import { deployments } from "../objects/resource-types.ts";
import { pausedDeployment } from "./objects.ts";
import { nameOf, refused, type World } from "./world.ts";

/** JSON, merge and strategic merge patches. */
export function patchesContract(world: World): void {
  let namespace: string;
  beforeAll(async () => {
    namespace = await world.namespace();
  });

  const merge = (name: string, body: unknown, options = {}) =>
    world.configMaps.patch({ namespace, name }, { type: "merge", body }, options);
  const json = (name: string, operations: readonly JsonPatchOperation[]) =>
    world.configMaps.patch({ namespace, name }, { type: "json", operations });

  describe("merge patch", () => {
    test("sets fields and leaves the others", async () => {
      await world.configMap(namespace, "merge", { a: "1", b: "2" });
      expect((await merge("merge", { data: { b: "3", c: "4" } })).data).toEqual({ a: "1", b: "3", c: "4" });
    });

    test("removes what is null", async () => {
      await world.configMap(namespace, "merge-null", { a: "1", b: "2" });
      expect((await merge("merge-null", { data: { a: null } })).data).toEqual({ b: "2" });
    });

    test("replaces lists as a whole", async () => {
      await world.configMap(namespace, "merge-list");
      await merge("merge-list", { metadata: { finalizers: ["example.com/a", "example.com/b"] } });
      const patched = await merge("merge-list", { metadata: { finalizers: ["example.com/c"] } });
      expect(patched.metadata.finalizers).toEqual(["example.com/c"]);
      await merge("merge-list", { metadata: { finalizers: null } });
    });

    test("with the uid of another object is Invalid, unlike a PUT", async () => {
      const created = await world.configMap(namespace, "merge-uid", { a: "1" });
      const uid = "00000000-0000-4000-8000-000000000000";
      await refused(merge("merge-uid", { metadata: { uid }, data: { a: "2" } }), errors.Invalid);
      expect((await world.configMaps.get(nameOf(created))).data).toEqual({ a: "1" });
    });

    test("with an outdated version is Conflict", async () => {
      const { metadata } = await world.configMap(namespace, "merge-conflict", { a: "1" });
      await merge("merge-conflict", { data: { a: "2" } });
      const { resourceVersion } = metadata;
      await refused(merge("merge-conflict", { metadata: { resourceVersion }, data: { a: "3" } }), errors.Conflict);
    });

    test("of what is not there is NotFound", async () => {
      await refused(merge("absent", { data: { a: "1" } }), errors.NotFound);
    });

    test("as a dry run changes nothing", async () => {
      const created = await world.configMap(namespace, "merge-dry", { a: "1" });
      expect((await merge("merge-dry", { data: { a: "2" } }, { dryRun: true })).data).toEqual({ a: "2" });
      expect((await world.configMaps.get(nameOf(created))).data).toEqual({ a: "1" });
    });

    test("that makes the object wrong is Invalid and names the field", async () => {
      await world.configMap(namespace, "merge-invalid");
      const error = await refused(
        merge("merge-invalid", { metadata: { labels: { "bad key!": "x" } } }),
        errors.Invalid,
      );
      expect(error.causes[0]?.field).toBe("metadata.labels");
    });

    test("that changes nothing keeps the version", async () => {
      const created = await world.configMap(namespace, "merge-same", { a: "1" });
      const patched = await merge("merge-same", { data: { a: "1" } });
      expect(patched.metadata.resourceVersion).toBe(created.metadata.resourceVersion);
    });
  });

  describe("json patch", () => {
    test("adds, replaces, removes, copies and moves", async () => {
      await world.configMap(namespace, "json", { a: "1", b: "2", c: "3" });
      const patched = await json("json", [
        { op: "add", path: "/data/d~1e", value: "4" },
        { op: "replace", path: "/data/a", value: "5" },
        { op: "remove", path: "/data/b" },
        { op: "copy", from: "/data/a", path: "/data/f" },
        { op: "move", from: "/data/c", path: "/data/g" },
      ]).catch((error: unknown) => error);
      // "d/e" is not a valid key of a ConfigMap: the patch is applied as a whole or not at all.
      expect(patched).toBeInstanceOf(errors.Invalid);
      const again = await json("json", [
        { op: "add", path: "/data/d", value: "4" },
        { op: "replace", path: "/data/a", value: "5" },
        { op: "remove", path: "/data/b" },
        { op: "copy", from: "/data/a", path: "/data/f" },
        { op: "move", from: "/data/c", path: "/data/g" },
      ]);
      expect(again.data).toEqual({ a: "5", d: "4", f: "5", g: "3" });
    });

    test("with a test that holds is applied", async () => {
      const { metadata } = await world.configMap(namespace, "json-test", { a: "1" });
      const patched = await json("json-test", [
        { op: "test", path: "/metadata/uid", value: metadata.uid },
        { op: "add", path: "/metadata/finalizers", value: ["example.com/a"] },
        { op: "remove", path: "/metadata/finalizers" },
        { op: "replace", path: "/data/a", value: "2" },
      ]);
      expect(patched.data).toEqual({ a: "2" });
    });

    test("with a test that fails is Invalid and changes nothing", async () => {
      const created = await world.configMap(namespace, "json-test-fails", { a: "1" });
      const operations = [
        { op: "replace", path: "/data/a", value: "2" },
        { op: "test", path: "/metadata/uid", value: "another" },
      ] as const;
      await refused(json("json-test-fails", operations), errors.Invalid);
      expect((await world.configMaps.get(nameOf(created))).data).toEqual({ a: "1" });
    });

    test("that removes what is not there is Invalid", async () => {
      await world.configMap(namespace, "json-remove", { a: "1" });
      await refused(json("json-remove", [{ op: "remove", path: "/data/z" }]), errors.Invalid);
    });

    test("that is no patch is BadRequest", async () => {
      await world.configMap(namespace, "json-malformed");
      const operations = { op: "add" } as unknown as readonly JsonPatchOperation[];
      await refused(json("json-malformed", operations), errors.BadRequest);
    });
  });

  describe("strategic merge patch", () => {
    const containers = (patched: object): unknown =>
      (patched as { spec: { template: { spec: { containers: object[] } } } }).spec.template.spec.containers;

    test("merges a list by its key", async () => {
      const resource = world.admin.resource(deployments);
      const created = await resource.create(pausedDeployment(namespace, "strategic"));
      const body = { spec: { template: { spec: { containers: [{ name: "side", image: "example.com/side:1" }] } } } };
      const patched = await resource.patch(nameOf(created), { type: "strategic", body });
      expect(containers(patched)).toMatchObject([{ name: "side" }, { name: "main", image: "example.com/main:1" }]);
    });

    test("removes an item of a list by its key", async () => {
      const resource = world.admin.resource(deployments);
      const base = pausedDeployment(namespace, "strategic-remove");
      const created = await resource.create(base);
      const patch = (items: object[]) =>
        resource.patch(nameOf(created), {
          type: "strategic",
          body: { spec: { template: { spec: { containers: items } } } },
        });
      await patch([{ name: "side", image: "example.com/side:1" }]);
      expect(containers(await patch([{ name: "main", $patch: "delete" }]))).toMatchObject([{ name: "side" }]);
    });
  });
}
