import { beforeAll, describe, expect, test } from "@jest/globals";
import { eventually } from "@evenkeel/runtime/testing";
import * as errors from "../errors.ts";
import type { Resource } from "../objects/resource.ts";
import { customResourceDefinitions } from "../objects/resource-types.ts";
import { nameOf, refused, WatchReader, type World } from "./world.ts";
import { createWidgetType, type Widget, widgetDefinition, widgets } from "./widgets.ts";

/** Custom resources: schemas, defaults, pruning, rules, columns. */
export function customContract(world: World): void {
  let namespace: string;
  let resource: Resource<Widget>;

  beforeAll(async () => {
    namespace = await world.namespace();
    await createWidgetType(world);
    resource = world.admin.resource(widgets);
  });

  const create = (name: string, spec: object = {}): Promise<Widget> =>
    resource.create({ metadata: { namespace, name }, spec });
  const patch = (name: string, body: object) => resource.patch({ namespace, name }, { type: "merge", body });

  describe("a custom resource", () => {
    test("is served once its definition is established", async () => {
      expect(await world.admin.serves(widgets)).toBe(true);
    });

    test("gets its defaults, nested ones too", async () => {
      const { spec, metadata } = await create("defaulted", { limits: {} });
      expect(spec).toEqual({ size: 3, color: "red", limits: { low: 1, high: 10 } });
      expect(metadata.generation).toBe(1);
    });

    test("treats null as absent where null is not allowed", async () => {
      const { spec } = await create("null", { limits: { low: null, high: 2, note: null } });
      expect(spec.limits).toEqual({ low: 1, high: 2 });
    });

    test("drops fields that its schema does not know", async () => {
      const { spec } = await create("pruned", { size: 1, shape: "round", limits: { middle: 5 } });
      expect(spec).not.toHaveProperty("shape");
      expect(spec.limits).not.toHaveProperty("middle");
    });

    test("keeps unknown fields where its schema says so", async () => {
      const extra = { deep: { list: [1, "two", null], flag: true } };
      expect((await create("preserved", { extra })).spec.extra).toEqual(extra);
    });

    test("with an unknown field is BadRequest if strict", async () => {
      const object: Widget = { metadata: { namespace, name: "strict" }, spec: { shape: "round" } as object };
      const error = await refused(resource.create(object, { fieldValidation: "Strict" }), errors.BadRequest);
      expect(error.message).toContain('unknown field "spec.shape"');
    });

    test.each([
      ["a number that is none", { size: "big" }, "spec.size"],
      ["a number above its maximum", { size: 11 }, "spec.size"],
      ["a number below its minimum", { size: 0 }, "spec.size"],
      ["a value outside its list", { color: "mauve" }, "spec.color"],
      ["text that does not match", { label: "UPPER" }, "spec.label"],
      ["text that is too long", { label: "x".repeat(21) }, "spec.label"],
      ["too many items", { tags: ["a", "b", "c", "d"] }, "spec.tags"],
      ["an item twice in a set", { tags: ["a", "a"] }, "spec.tags[1]"],
      ["an item without its key", { parts: [{ weight: 1 }] }, "spec.parts[0].name"],
      ["values that contradict each other", { limits: { low: 5, high: 2 } }, "spec.limits"],
    ])("with %s is Invalid and the field is named", async (_, spec, field) => {
      const error = await refused(create("wrong", spec), errors.Invalid);
      expect(error.causes.map((cause) => cause.field)).toContain(field);
      expect(error.message).toContain(field);
    });

    test("without a field that is required is Invalid and the field is named", async () => {
      const object = { metadata: { namespace, name: "specless" } } as Widget;
      const error = await refused(resource.create(object), errors.Invalid);
      expect(error.causes).toContainEqual(expect.objectContaining({ reason: "FieldValueRequired", field: "spec" }));
    });

    test("that breaks a rule is refused with the rule's message", async () => {
      const error = await refused(create("ruled", { limits: { low: 5, high: 2 } }), errors.Invalid);
      expect(error.message).toContain("low must not exceed high");
    });

    test("that breaks a rule on changes is Invalid, and was not when it was created", async () => {
      await create("immutable", { label: "first" });
      const error = await refused(patch("immutable", { spec: { label: "second" } }), errors.Invalid);
      expect(error.message).toContain("label cannot be changed");
      expect((await patch("immutable", { spec: { size: 5 } })).spec).toMatchObject({ label: "first", size: 5 });
    });

    test("takes a number or a text where its schema says so", async () => {
      expect((await create("number", { amount: 5 })).spec.amount).toBe(5);
      expect((await create("percent", { amount: "50%" })).spec.amount).toBe("50%");
      await refused(create("neither", { amount: true }), errors.Invalid);
    });

    test("takes no strategic merge patch", async () => {
      const { metadata } = await create("strategic");
      const call = resource.patch({ namespace, name: metadata.name ?? "" }, { type: "strategic", body: {} });
      const error = await refused(call, errors.UnsupportedMediaType);
      expect(error.status).toBe(415);
    });

    test("increases its generation with its spec only", async () => {
      await create("generation");
      expect((await patch("generation", { metadata: { labels: { a: "b" } } })).metadata.generation).toBe(1);
      expect((await patch("generation", { spec: { size: 4 } })).metadata.generation).toBe(2);
    });

    test("has a status that is written separately", async () => {
      const created = await create("status", { size: 2 });
      expect((await patch("status", { status: { ready: 1 } })).status).toBeUndefined();
      const body = { spec: { size: 9 }, status: { ready: 1 } };
      const written = await resource.status.patch(nameOf(created), { type: "merge", body });
      expect([written.spec.size, written.status, written.metadata.generation]).toEqual([2, { ready: 1 }, 1]);
    });

    test("has a status, and a patch of it ignores a uid", async () => {
      const created = await create("status-uid");
      const body = { metadata: { uid: "00000000-0000-4000-8000-000000000000" }, status: { ready: 1 } };
      const written = await resource.status.patch(nameOf(created), { type: "merge", body });
      expect([written.metadata.uid, written.status]).toEqual([created.metadata.uid, { ready: 1 }]);
    });

    test("has a scale with its own paths", async () => {
      const created = await create("scale", { size: 2 });
      const body = { status: { ready: 1, selector: "app=widget" } };
      await resource.status.patch(nameOf(created), { type: "merge", body });
      const scale = await resource.scale.get(nameOf(created));
      expect(scale).toMatchObject({ spec: { replicas: 2 }, status: { replicas: 1, selector: "app=widget" } });
      await resource.scale.replace({ ...scale, spec: { replicas: 7 } });
      expect((await resource.get(nameOf(created))).spec.size).toBe(7);
    });

    test("at zero has no replicas in its scale, and is set from there by a json patch", async () => {
      const { spec, metadata } = widgetDefinition("sleepers", "Sleeper");
      const size = { type: "object", properties: { size: { type: "integer" } } };
      const openAPIV3Schema = { type: "object", properties: { spec: size } };
      const versions = spec.versions.map((version) => ({ ...version, schema: { openAPIV3Schema } }));
      await world.admin.resource(customResourceDefinitions).create({ metadata, spec: { ...spec, versions } });
      const sleepers = world.admin.resource<Widget>({ ...widgets, kind: "Sleeper", plural: "sleepers" });
      const created = await eventually(() =>
        sleepers.create({ metadata: { namespace, name: "zero" }, spec: { size: 0 } }),
      );
      const scale = await sleepers.scale.get(nameOf(created));
      expect([scale.spec, scale.status?.replicas]).toEqual([{}, 0]);
      const operations = [
        { op: "test", path: "/spec", value: {} },
        { op: "add", path: "/spec/replicas", value: 2 },
      ] as const;
      const woken = await sleepers.scale.patch(nameOf(created), { type: "json", operations });
      expect([woken.spec, (await sleepers.get(nameOf(created))).spec]).toEqual([{ replicas: 2 }, { size: 2 }]);
      await refused(sleepers.scale.patch(nameOf(created), { type: "json", operations }), errors.Invalid);
    });

    test("is applied with lists merged by their keys and sets joined", async () => {
      const apply = (fieldManager: string, spec: object) =>
        resource.apply({ metadata: { namespace, name: "applied" }, spec }, { fieldManager });
      await apply("one", { parts: [{ name: "a", weight: 1 }], tags: ["x"] });
      const applied = await apply("two", { parts: [{ name: "b", weight: 2 }], tags: ["y"] });
      expect(applied.spec.parts).toEqual([
        { name: "a", weight: 1 },
        { name: "b", weight: 2 },
      ]);
      expect(applied.spec.tags?.toSorted()).toEqual(["x", "y"]);
      const without = await apply("one", { tags: ["x"] });
      expect(without.spec.parts).toEqual([{ name: "b", weight: 2 }]);
    });

    test("is selected by labels and watched as any other", async () => {
      const { resourceVersion } = await resource.list({ namespace });
      const labelSelector = "kind=watched";
      await using watch = new WatchReader(resource, { namespace, labelSelector, resourceVersion });
      await create("unwatched");
      await resource.create({ metadata: { namespace, name: "watched", labels: { kind: "watched" } }, spec: {} });
      await resource.delete({ namespace, name: "watched" });
      expect(await watch.take(2)).toEqual(["ADDED watched", "DELETED watched"]);
    });

    test("is shown as a table with the columns of its definition", async () => {
      await create("tabled", { size: 4, color: "blue" });
      const table = (await world.admin.request({
        path: `/apis/${widgets.group}/${widgets.version}/namespaces/${namespace}/widgets`,
        query: { fieldSelector: "metadata.name=tabled" },
        headers: { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" },
      })) as { kind: string; columnDefinitions: { name: string }[]; rows: { cells: unknown[] }[] };
      expect(table.kind).toBe("Table");
      expect(table.columnDefinitions.map(({ name }) => name)).toEqual(["Name", "Size", "Color", "Age"]);
      expect(table.rows[0]?.cells.slice(0, 3)).toEqual(["tabled", 4, "blue"]);
    });
  });

  describe("a definition", () => {
    test("with a schema that is not structural is refused with the field", async () => {
      const { spec, metadata } = widgetDefinition("gadgets", "Gadget");
      const versions = spec.versions.map((version) => ({
        ...version,
        schema: { openAPIV3Schema: { type: "object", properties: { spec: {} } } },
      }));
      const definitions = world.admin.resource(customResourceDefinitions);
      const error = await refused(definitions.create({ metadata, spec: { ...spec, versions } }), errors.Invalid);
      expect(error.message).toContain("openAPIV3Schema.properties[spec].type");
    });

    test("with a rule that does not compile is refused with the rule", async () => {
      const { spec, metadata } = widgetDefinition("gadgets", "Gadget");
      const rule = { rule: "self.nothing > 1", message: "never" };
      const openAPIV3Schema = {
        type: "object",
        properties: { spec: { type: "object", "x-kubernetes-validations": [rule] } },
      };
      const versions = spec.versions.map(({ name, served, storage }) => ({
        name,
        served,
        storage,
        schema: { openAPIV3Schema },
      }));
      const definitions = world.admin.resource(customResourceDefinitions);
      const error = await refused(definitions.create({ metadata, spec: { ...spec, versions } }), errors.Invalid);
      expect(error.message).toContain("self.nothing");
    });
  });
}
