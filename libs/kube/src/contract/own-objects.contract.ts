import { beforeAll, describe, expect, test } from "@jest/globals";
import { deleteIfSame } from "../objects/delete-if-same.ts";
import { keepFinalizer } from "../objects/finalizers.ts";
import type { Resource } from "../objects/resource.ts";
import { StatusWriter } from "../objects/status-writer.ts";
import { createWidgetType, type Widget, type WidgetStatus, widgets } from "./widgets.ts";
import { isGone, nameOf, type World } from "./world.ts";

const FINALIZER = "contract.evenkeel.io/release";

/** What a controller does to its own objects: status, finalizer, deletion. */
export function ownObjectsContract(world: World): void {
  const term = { signal: new AbortController().signal };
  let namespace: string;
  let resource: Resource<Widget>;
  let statuses: StatusWriter<Widget, WidgetStatus>;

  beforeAll(async () => {
    namespace = await world.namespace();
    await createWidgetType(world);
    resource = world.admin.resource(widgets);
    statuses = new StatusWriter<Widget, WidgetStatus>(resource);
  });

  const create = (name: string): Promise<Widget> => resource.create({ metadata: { namespace, name }, spec: {} });

  /** An object and the one that replaced it. */
  const recreate = async (name: string): Promise<readonly [Widget, Widget]> => {
    const before = await create(name);
    await resource.delete(nameOf(before));
    return [before, await create(name)];
  };

  describe("a status writer", () => {
    test("merges into the status, and removes a field by null", async () => {
      const created = await create("written");
      await statuses.write(created, { ready: 1, selector: "app=web" }, term);
      await statuses.write(created, { ready: 2 }, term);
      expect((await resource.get(nameOf(created))).status).toEqual({ ready: 2, selector: "app=web" });
      await statuses.write(created, { ready: null }, term);
      const { status, metadata } = await resource.get(nameOf(created));
      expect([status, metadata.generation]).toEqual([{ selector: "app=web" }, 1]);
    });

    test("ignores an object that is gone", async () => {
      const created = await create("unwritten");
      await resource.delete(nameOf(created));
      await statuses.write(created, { ready: 1 }, term);
      expect(await isGone(resource, nameOf(created))).toBe(true);
    });

    test("writes nothing to an object that replaced the one that was read", async () => {
      const [before, after] = await recreate("rewritten");
      await statuses.write(before, { ready: 1 }, term);
      expect((await resource.get(nameOf(after))).status).toBeUndefined();
    });
  });

  describe("keeping a finalizer", () => {
    test("adds it while it is wanted and removes it after", async () => {
      const created = await create("finalized");
      expect(await keepFinalizer(resource, created, FINALIZER, true)).toBe(true);
      expect((await resource.get(nameOf(created))).metadata.finalizers).toEqual([FINALIZER]);
      expect(await keepFinalizer(resource, await resource.get(nameOf(created)), FINALIZER, false)).toBe(true);
      expect((await resource.get(nameOf(created))).metadata.finalizers).toBeUndefined();
    });

    test("is false for an object that is gone, replaced or being deleted", async () => {
      const [before, after] = await recreate("unfinalized");
      expect(await keepFinalizer(resource, before, FINALIZER, true)).toBe(false);
      expect((await resource.get(nameOf(after))).metadata.finalizers).toBeUndefined();
      expect(await keepFinalizer(resource, after, FINALIZER, true)).toBe(true);
      await resource.delete(nameOf(after));
      const terminating = await resource.get(nameOf(after));
      expect(await keepFinalizer(resource, terminating, FINALIZER, true)).toBe(false);
      await keepFinalizer(resource, terminating, FINALIZER, false);
      expect(await isGone(resource, nameOf(after))).toBe(true);
      expect(await keepFinalizer(resource, terminating, FINALIZER, false)).toBe(false);
    });
  });

  test("deleting an object only if it is the same keeps the one that replaced it", async () => {
    const [before, after] = await recreate("deleted-once");
    expect(await deleteIfSame(resource, before)).toBe(false);
    expect(await deleteIfSame(resource, after)).toBe(true);
    expect(await isGone(resource, nameOf(after))).toBe(true);
    expect(await deleteIfSame(resource, after)).toBe(false);
  });
}
