import { beforeAll, describe, expect, test } from "@jest/globals";
import * as errors from "../errors.ts";
import { type ConfigMap, type Deployment, deployments } from "../objects/resource-types.ts";
import { pausedDeployment } from "./objects.ts";
import { isGone, nameOf, refused, type World } from "./world.ts";

interface ManagedFields {
  readonly manager: string;
  readonly operation: string;
  readonly subresource?: string;
}

/** Server-side apply and the ownership of fields. */
export function applyContract(world: World): void {
  let namespace: string;
  beforeAll(async () => {
    namespace = await world.namespace();
  });

  const apply = (name: string, manager: string, data: Record<string, string>, force?: boolean): Promise<ConfigMap> =>
    world.configMaps.apply(
      { metadata: { namespace, name }, data },
      { fieldManager: manager, ...(force === undefined ? {} : { force }) },
    );
  const managers = ({ metadata }: ConfigMap): string[] =>
    ((metadata.managedFields ?? []) as ManagedFields[]).map(({ manager, operation }) => `${manager} ${operation}`);

  describe("apply", () => {
    test("creates what is not there and notes its manager", async () => {
      const applied = await apply("created", "one", { a: "1" });
      expect(applied.data).toEqual({ a: "1" });
      expect(managers(applied)).toEqual(["one Apply"]);
    });

    test("of the same again keeps the version", async () => {
      const first = await apply("same", "one", { a: "1" });
      const second = await apply("same", "one", { a: "1" });
      expect(second.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
    });

    test("by two managers keeps the fields of both", async () => {
      await apply("both", "one", { a: "1" });
      const applied = await apply("both", "two", { b: "2" });
      expect(applied.data).toEqual({ a: "1", b: "2" });
      expect(managers(applied).toSorted()).toEqual(["one Apply", "two Apply"]);
    });

    test("of a field that another manager owns is FieldConflict and names both", async () => {
      await apply("conflict", "one", { a: "1" });
      const error = await refused(apply("conflict", "two", { a: "2" }), errors.FieldConflict);
      expect(error).toMatchObject({ status: 409, reason: "Conflict", recovery: "terminal" });
      expect(error.causes).toEqual([
        { reason: "FieldManagerConflict", message: expect.stringContaining('"one"'), field: ".data.a" },
      ]);
      expect((await world.configMaps.get({ namespace, name: "conflict" })).data).toEqual({ a: "1" });
    });

    test("of an equal value shares the field", async () => {
      await apply("shared", "one", { a: "1" });
      expect(managers(await apply("shared", "two", { a: "1" })).toSorted()).toEqual(["one Apply", "two Apply"]);
    });

    test("by force takes the field over", async () => {
      await apply("forced", "one", { a: "1" });
      expect((await apply("forced", "two", { a: "2" }, true)).data).toEqual({ a: "2" });
      await refused(apply("forced", "one", { a: "1" }), errors.FieldConflict);
    });

    test("without a field that it had removes it", async () => {
      await apply("removal", "one", { a: "1", b: "2" });
      expect((await apply("removal", "one", { b: "2" })).data).toEqual({ b: "2" });
    });

    test("without a shared field keeps it for the other owner", async () => {
      await apply("given-up", "one", { a: "1", b: "2" });
      await apply("given-up", "two", { a: "1" });
      expect((await apply("given-up", "one", { b: "2" })).data).toEqual({ a: "1", b: "2" });
      expect((await apply("given-up", "two", {})).data).toEqual({ b: "2" });
    });

    test("of a field that an update wrote is FieldConflict", async () => {
      const applied = await apply("written", "one", { a: "1" });
      await world.configMaps.replace({ ...applied, data: { a: "5" } }, { fieldManager: "editor" });
      const error = await refused(apply("written", "one", { a: "1" }), errors.FieldConflict);
      expect(error.message).toContain('"editor"');
    });

    test("merges a list by its key", async () => {
      const resource = world.admin.resource(deployments);
      await resource.create(pausedDeployment(namespace, "listed"), { fieldManager: "creator" });
      const sidecar = {
        metadata: { namespace, name: "listed" },
        spec: { template: { spec: { containers: [{ name: "side", image: "example.com/side:1" }] } } },
      } as unknown as Deployment;
      const applied = await resource.apply(sidecar, { fieldManager: "sidecar" });
      expect(applied.spec?.template.spec?.containers.map(({ name }) => name)).toEqual(["main", "side"]);
    });

    test("as a dry run stores nothing", async () => {
      const object = { metadata: { namespace, name: "dry" }, data: { a: "1" } };
      const answer = await world.configMaps.apply(object, { fieldManager: "one", dryRun: true });
      expect(answer.data).toEqual({ a: "1" });
      expect(await isGone(world.configMaps, { namespace, name: "dry" })).toBe(true);
    });

    test("of an outdated version is Conflict", async () => {
      const applied = await apply("outdated", "one", { a: "1" });
      await world.configMaps.replace({ ...applied, data: { a: "1", b: "2" } }, { fieldManager: "editor" });
      const { resourceVersion = "" } = applied.metadata;
      const stale = { metadata: { namespace, name: "outdated", resourceVersion }, data: { a: "3" } };
      await refused(world.configMaps.apply(stale, { fieldManager: "one" }), errors.Conflict);
    });

    test("of an object that carries managedFields is BadRequest", async () => {
      const applied = await apply("carried", "one", { a: "1" });
      await refused(world.configMaps.apply(applied, { fieldManager: "one" }), errors.BadRequest);
    });

    test("without a manager is Invalid", async () => {
      const error = await refused(apply("unmanaged", "", { a: "1" }), errors.Invalid);
      expect(error.causes[0]?.field).toBe("fieldManager");
    });

    test("of a status owns that status alone", async () => {
      const resource = world.admin.resource(deployments);
      const created = await resource.create(pausedDeployment(namespace, "status"));
      const status = { metadata: nameOf(created), status: { conditions: [condition] } } as Deployment;
      const applied = await resource.status.apply(status, { fieldManager: "reporter", force: true });
      expect(applied.status?.conditions?.map(({ type }) => type)).toContain("Contract");
      const managed = (applied.metadata.managedFields ?? []) as ManagedFields[];
      expect(managed).toContainEqual(
        expect.objectContaining({ manager: "reporter", operation: "Apply", subresource: "status" }),
      );
    });
  });
}

const condition = {
  ...{ type: "Contract", status: "True", reason: "Tested", message: "said by the suite" },
  ...{ lastTransitionTime: "2026-01-01T00:00:00Z", lastUpdateTime: "2026-01-01T00:00:00Z" },
};
