import { beforeAll, describe, expect, test } from "@jest/globals";
import * as errors from "../errors.ts";
import { configMaps, deployments, namespaces } from "../objects/resource-types.ts";
import { pausedDeployment } from "./objects.ts";
import { isGone, nameOf, refused, type World } from "./world.ts";

/** Create, get, replace and delete. */
export function writesContract(world: World): void {
  let namespace: string;
  beforeAll(async () => {
    namespace = await world.namespace();
  });

  describe("create", () => {
    test("gives the object its identity and version", async () => {
      const { metadata, kind, apiVersion, data } = await world.configMap(namespace, "identity", { a: "1" });
      expect({ kind, apiVersion, data }).toEqual({ kind: "ConfigMap", apiVersion: "v1", data: { a: "1" } });
      expect(metadata.uid).toMatch(/^[0-9a-f-]{36}$/);
      expect(Number(metadata.resourceVersion)).toBeGreaterThan(0);
      expect(metadata.creationTimestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    });

    test("is read back equal", async () => {
      const created = await world.configMap(namespace, "read-back", { text: "grün ✓ 𝄞" }, { a: "b" });
      expect(await world.configMaps.get(nameOf(created))).toEqual(created);
    });

    test("of a name that is taken is AlreadyExists", async () => {
      await world.configMap(namespace, "taken");
      const error = await refused(world.configMap(namespace, "taken"), errors.AlreadyExists);
      expect(error).toMatchObject({ status: 409, reason: "AlreadyExists", recovery: "terminal" });
      expect(error.message).toContain(`create configmaps ${namespace}/taken at http`);
    });

    test("takes the same name in another namespace", async () => {
      const other = await world.namespace();
      const [first, second] = [await world.configMap(namespace, "twin"), await world.configMap(other, "twin")];
      expect(first.metadata.uid).not.toBe(second.metadata.uid);
    });

    test("generates names that differ", async () => {
      const create = () => world.configMaps.create({ metadata: { namespace, generateName: "made-up-" } });
      const names = (await Promise.all([create(), create(), create()])).map(({ metadata }) => metadata.name);
      expect(new Set(names).size).toBe(3);
      for (const name of names) expect(name).toMatch(/^made-up-[a-z0-9]{5}$/);
    });

    test("with a name that is not valid is Invalid and names the field", async () => {
      const error = await refused(world.configMap(namespace, "Not_A_Name"), errors.Invalid);
      expect(error).toMatchObject({ status: 422, reason: "Invalid" });
      expect(error.causes).toMatchObject([{ reason: "FieldValueInvalid", field: "metadata.name" }]);
    });

    test("in a namespace that does not exist is NotFound", async () => {
      await refused(world.configMap("no-such-namespace", "a"), errors.NotFound);
    });

    test("with a resource version is refused", async () => {
      const metadata = { namespace, name: "versioned", resourceVersion: "1" };
      const error = await refused(world.configMaps.create({ metadata }), errors.ServerFault);
      expect(error.message).toContain("resourceVersion should not be set");
    });

    test("of an unknown field is BadRequest if strict, and drops it if not", async () => {
      const object = { metadata: { namespace, name: "unknown-field" }, dada: { a: "1" } };
      const error = await refused(world.configMaps.create(object, { fieldValidation: "Strict" }), errors.BadRequest);
      expect(error.message).toContain('unknown field "dada"');
      const created = await world.configMaps.create(object, { fieldValidation: "Ignore" });
      expect(created).not.toHaveProperty("dada");
    });

    test("as a dry run returns the result and stores nothing", async () => {
      const object = { metadata: { namespace, name: "dry" }, data: { a: "1" } };
      const answer = await world.configMaps.create(object, { dryRun: true });
      expect(answer.metadata.uid).toBeDefined();
      expect(await isGone(world.configMaps, { namespace, name: "dry" })).toBe(true);
    });

    test("of more than the server accepts in one request is TooLarge", async () => {
      const data = { large: "x".repeat(4 * 1024 * 1024) };
      await refused(world.configMap(namespace, "large", data), errors.TooLarge);
    });

    test("of a type that is not served is NotFound", async () => {
      const type = { ...configMaps, group: "nobody.example.com", version: "v1" };
      await refused(world.admin.resource(type).create({ metadata: { namespace, name: "a" } }), errors.NotFound);
    });

    test("of a cluster-wide object needs no namespace", async () => {
      const created = await world.admin.resource(namespaces).create({ metadata: { generateName: "contract-" } });
      expect(created.metadata.namespace).toBeUndefined();
      expect((await world.admin.resource(namespaces).get(nameOf(created))).metadata.uid).toBe(created.metadata.uid);
    });
  });

  describe("get", () => {
    test("of what is not there is NotFound", async () => {
      const error = await refused(world.configMaps.get({ namespace, name: "absent" }), errors.NotFound);
      expect(error).toMatchObject({ status: 404, reason: "NotFound", recovery: "terminal" });
      expect(error.message).toContain('configmaps "absent" not found');
    });
  });

  describe("replace", () => {
    test("writes the whole object and gives it a new version", async () => {
      const created = await world.configMap(namespace, "replaced", { a: "1", b: "2" });
      const replaced = await world.configMaps.replace({ ...created, data: { a: "3" } });
      expect(replaced.data).toEqual({ a: "3" });
      expect(Number(replaced.metadata.resourceVersion)).toBeGreaterThan(Number(created.metadata.resourceVersion));
      expect(replaced.metadata.uid).toBe(created.metadata.uid);
    });

    test("of an outdated version is Conflict and changes nothing", async () => {
      const created = await world.configMap(namespace, "outdated", { a: "1" });
      await world.configMaps.replace({ ...created, data: { a: "2" } });
      const error = await refused(world.configMaps.replace({ ...created, data: { a: "3" } }), errors.Conflict);
      expect(error).toMatchObject({ status: 409, reason: "Conflict", recovery: "retryable" });
      expect((await world.configMaps.get(nameOf(created))).data).toEqual({ a: "2" });
    });

    test("without a version overwrites the object", async () => {
      await world.configMap(namespace, "overwritten", { a: "1" });
      const metadata = { namespace, name: "overwritten" };
      expect((await world.configMaps.replace({ metadata, data: { a: "2" } })).data).toEqual({ a: "2" });
    });

    test("that changes nothing keeps the version", async () => {
      const created = await world.configMap(namespace, "unchanged", { a: "1" });
      const replaced = await world.configMaps.replace(created);
      expect(replaced.metadata.resourceVersion).toBe(created.metadata.resourceVersion);
    });

    test("of what is not there is NotFound", async () => {
      await refused(world.configMaps.replace({ metadata: { namespace, name: "absent" } }), errors.NotFound);
    });

    test("as a dry run returns the result and changes nothing", async () => {
      const created = await world.configMap(namespace, "dry-replaced", { a: "1" });
      const answer = await world.configMaps.replace({ ...created, data: { a: "2" } }, { dryRun: true });
      expect(answer.data).toEqual({ a: "2" });
      expect((await world.configMaps.get(nameOf(created))).data).toEqual({ a: "1" });
    });

    test("of what is immutable is Invalid", async () => {
      const created = await world.configMaps.create({
        metadata: { namespace, name: "fixed" },
        immutable: true,
        data: {},
      });
      const error = await refused(world.configMaps.replace({ ...created, data: { a: "1" } }), errors.Invalid);
      expect(error.causes[0]?.field).toBe("data");
    });

    test("of another object of the same name, by uid, is Conflict", async () => {
      const created = await world.configMap(namespace, "reborn");
      await world.configMaps.delete(nameOf(created));
      await world.configMap(namespace, "reborn");
      const { uid } = created.metadata;
      const stale = { metadata: { namespace, name: "reborn", ...(uid === undefined ? {} : { uid }) } };
      await refused(world.configMaps.replace(stale), errors.Conflict);
    });

    test("of the desired state counts the generation up, of labels it does not", async () => {
      const resource = world.admin.resource(deployments);
      const created = await resource.create(pausedDeployment(namespace, "generation"));
      expect(created.metadata.generation).toBe(1);
      const merge = (body: object) => resource.patch(nameOf(created), { type: "merge", body });
      expect((await merge({ metadata: { labels: { a: "b" } } })).metadata.generation).toBe(1);
      expect((await merge({ spec: { minReadySeconds: 5 } })).metadata.generation).toBe(2);
    });
  });

  describe("delete", () => {
    test("removes the object", async () => {
      const created = await world.configMap(namespace, "deleted");
      expect(await world.configMaps.delete(nameOf(created))).toBeUndefined();
      await refused(world.configMaps.get(nameOf(created)), errors.NotFound);
    });

    test("of what is not there is NotFound", async () => {
      await refused(world.configMaps.delete({ namespace, name: "absent" }), errors.NotFound);
    });

    test("with the right uid and version works", async () => {
      const created = await world.configMap(namespace, "expected");
      const { uid = "", resourceVersion = "" } = created.metadata;
      await world.configMaps.delete(nameOf(created), { preconditions: { uid, resourceVersion } });
      expect(await isGone(world.configMaps, nameOf(created))).toBe(true);
    });

    test("with another uid is Conflict and removes nothing", async () => {
      const created = await world.configMap(namespace, "other-uid");
      const preconditions = { uid: "00000000-0000-4000-8000-000000000000" };
      await refused(world.configMaps.delete(nameOf(created), { preconditions }), errors.Conflict);
      expect(await isGone(world.configMaps, nameOf(created))).toBe(false);
    });

    test("with an outdated version is Conflict", async () => {
      const created = await world.configMap(namespace, "other-version");
      const { resourceVersion = "" } = created.metadata;
      await world.configMaps.replace({ ...created, data: { a: "1" } });
      await refused(world.configMaps.delete(nameOf(created), { preconditions: { resourceVersion } }), errors.Conflict);
    });

    test("as a dry run removes nothing", async () => {
      const created = await world.configMap(namespace, "dry-deleted");
      await world.configMaps.delete(nameOf(created), { dryRun: true });
      expect(await isGone(world.configMaps, nameOf(created))).toBe(false);
    });
  });
}
