import { beforeEach, describe, expect, test } from "@jest/globals";
import { eventually } from "@evenkeel/runtime/testing";
import * as errors from "../errors.ts";
import { configMaps } from "../objects/resource-types.ts";
import { createWidgetType, widgets } from "./widgets.ts";
import { nameOf, refused, WatchReader, type World } from "./world.ts";

/** Watches: events, resuming, bookmarks, initial state as a stream. */
export function watchesContract(world: World): void {
  let namespace: string;
  beforeEach(async () => {
    namespace = await world.namespace();
  });

  const now = async (): Promise<string> => (await world.configMaps.list({ namespace })).resourceVersion;
  const merge = (name: string, body: object) => world.configMaps.patch({ namespace, name }, { type: "merge", body });
  /** Controllers create a ConfigMap in each namespace; the cases select their own. */
  const labelSelector = "case";
  const create = (name: string, label = "yes") => world.configMap(namespace, name, {}, { case: label });

  describe("watch", () => {
    test("reports what happens after a version, in order", async () => {
      const resourceVersion = await now();
      await using watch = new WatchReader(world.configMaps, { namespace, labelSelector, resourceVersion });
      await create("a");
      await merge("a", { data: { a: "1" } });
      await create("b");
      await world.configMaps.delete({ namespace, name: "a" });
      expect(await watch.take(4)).toEqual(["ADDED a", "MODIFIED a", "ADDED b", "DELETED a"]);
    });

    test("carries whole objects with their type", async () => {
      const resourceVersion = await now();
      const created = await create("whole");
      await using watch = new WatchReader(world.configMaps, { namespace, labelSelector, resourceVersion });
      expect(await watch.next()).toEqual({ type: "ADDED", object: created });
    });

    test("reports a deletion with the last state and a new version", async () => {
      const created = await create("last", "kept");
      await using watch = new WatchReader(world.configMaps, {
        ...{ namespace, labelSelector, resourceVersion: created.metadata.resourceVersion },
      });
      await world.configMaps.delete(nameOf(created));
      const event = await watch.next();
      expect(event).toMatchObject({ type: "DELETED", object: { metadata: { labels: { case: "kept" } } } });
      const version = event?.type === "DELETED" ? event.object.metadata.resourceVersion : "";
      expect(Number(version)).toBeGreaterThan(Number(created.metadata.resourceVersion));
    });

    test("resumes after the last event without a gap or a repetition", async () => {
      const first = await create("first");
      await create("second");
      await create("third");
      const { resourceVersion } = first.metadata;
      await using watch = new WatchReader(world.configMaps, { namespace, labelSelector, resourceVersion });
      expect(await watch.take(2)).toEqual(["ADDED second", "ADDED third"]);
    });

    test("without a version starts with the present objects", async () => {
      await create("present");
      await using watch = new WatchReader(world.configMaps, { namespace, labelSelector });
      expect(await watch.take(1)).toEqual(["ADDED present"]);
      await create("new");
      expect(await watch.take(1)).toEqual(["ADDED new"]);
    });

    test("reports an object that leaves the selection as deleted, and one that enters it as added", async () => {
      const resourceVersion = await now();
      await using watch = new WatchReader(world.configMaps, { namespace, resourceVersion, labelSelector: "case=in" });
      await create("mover", "in");
      await merge("mover", { metadata: { labels: { case: "out" } } });
      await merge("mover", { data: { unseen: "1" } });
      await merge("mover", { metadata: { labels: { case: "in" } } });
      expect(await watch.take(3)).toEqual(["ADDED mover", "DELETED mover", "ADDED mover"]);
    });

    test("of one name reports no others", async () => {
      const resourceVersion = await now();
      const fieldSelector = "metadata.name=mine";
      await using watch = new WatchReader(world.configMaps, { namespace, resourceVersion, fieldSelector });
      await create("other");
      await create("mine");
      expect(await watch.take(1)).toEqual(["ADDED mine"]);
    });

    test("of all namespaces reports each, of one only that one", async () => {
      const other = await world.namespace();
      const resourceVersion = await now();
      await using everywhere = new WatchReader(world.configMaps, { labelSelector, resourceVersion });
      await using here = new WatchReader(world.configMaps, { namespace, labelSelector, resourceVersion });
      await world.configMap(other, "there", {}, { case: "yes" });
      await create("here");
      expect(await everywhere.take(2)).toEqual(["ADDED there", "ADDED here"]);
      expect(await here.take(1)).toEqual(["ADDED here"]);
    });

    test("reports the same to two watchers", async () => {
      const resourceVersion = await now();
      const options = { namespace, labelSelector, resourceVersion };
      await using one = new WatchReader(world.configMaps, options);
      await using two = new WatchReader(world.configMaps, options);
      await create("a");
      await create("b");
      expect(await one.take(2)).toEqual(await two.take(2));
    });

    test("keeps a burst in the order of its versions for a slow reader", async () => {
      const resourceVersion = await now();
      await using watch = new WatchReader(world.configMaps, { namespace, labelSelector, resourceVersion });
      await create("burst");
      for (let index = 1; index < 100; index++) await merge("burst", { data: { index: String(index) } });
      const versions: number[] = [];
      while (versions.length < 100) {
        const event = await watch.next();
        if (event?.type === "ADDED" || event?.type === "MODIFIED")
          versions.push(Number(event.object.metadata.resourceVersion));
      }
      expect(versions).toEqual(versions.toSorted((a, b) => a - b));
      expect(new Set(versions).size).toBe(100);
    });

    test("ends after its timeoutSeconds", async () => {
      const resourceVersion = await now();
      await using watch = new WatchReader(world.configMaps, {
        ...{ namespace, labelSelector, resourceVersion, timeoutSeconds: 1 },
      });
      expect(await watch.next()).toBeUndefined();
    });

    test("from an expired version is Gone", async () => {
      // The server's history of a type starts with the type, so earlier versions are unknown to it.
      await createWidgetType(world);
      await using watch = new WatchReader(world.admin.resource(widgets), { namespace, resourceVersion: "1" });
      const error = await refused(watch.next(), errors.Gone);
      expect(error).toMatchObject({ status: 410, reason: "Expired", recovery: "retryable" });
    });

    test("of a type that is not served is NotFound", async () => {
      const resource = world.admin.resource({ ...configMaps, group: "nobody.example.com" });
      await using watch = new WatchReader(resource, { namespace });
      await refused(watch.next(), errors.NotFound);
    });

    test("has bookmarks, and can be resumed from their versions", async () => {
      const { metadata } = await create("marked");
      await create("told");
      // The server may send one shortly before the time-out of a watch, if something has happened since.
      const bookmark = await eventually(async () => {
        const { resourceVersion } = metadata;
        const time = { allowWatchBookmarks: true, timeoutSeconds: 4 };
        await using watch = new WatchReader(world.configMaps, { namespace, labelSelector, resourceVersion, ...time });
        for (let event = await watch.next(); event !== undefined; event = await watch.next()) {
          if (event.type === "BOOKMARK") return event;
          await world.configMaps.create({ metadata: { namespace, generateName: "unseen-" } });
        }
        return false;
      });
      expect(bookmark.initialEventsEnd).toBe(false);
      expect(Number(bookmark.resourceVersion)).toBeGreaterThan(Number(metadata.resourceVersion));
      const { resourceVersion } = bookmark;
      await using resumed = new WatchReader(world.configMaps, { namespace, labelSelector, resourceVersion });
      await create("after");
      expect(await resumed.take(1)).toEqual(["ADDED after"]);
    });
  });

  describe("watch with initial events", () => {
    const initial = {
      allowWatchBookmarks: true,
      sendInitialEvents: true,
      resourceVersionMatch: "NotOlderThan",
    } as const;

    test("reports the present objects, then the bookmark, then changes", async () => {
      await create("a");
      await create("b");
      await using watch = new WatchReader(world.configMaps, { namespace, labelSelector, ...initial });
      expect(await watch.take(2)).toEqual(["ADDED a", "ADDED b"]);
      expect(await watch.next()).toMatchObject({ type: "BOOKMARK", initialEventsEnd: true });
      await create("c");
      expect(await watch.take(1)).toEqual(["ADDED c"]);
    });

    test("of no objects reports only the bookmark, and can be resumed from its version", async () => {
      await using watch = new WatchReader(world.configMaps, { namespace, labelSelector: "nobody", ...initial });
      const bookmark = await watch.next();
      expect(bookmark).toMatchObject({ type: "BOOKMARK", initialEventsEnd: true });
      const resourceVersion = bookmark?.type === "BOOKMARK" ? bookmark.resourceVersion : undefined;
      await create("after");
      await using resumed = new WatchReader(world.configMaps, { namespace, labelSelector, resourceVersion });
      expect(await resumed.take(1)).toEqual(["ADDED after"]);
    });

    test("contains everything that was written before it was opened", async () => {
      const names = Array.from({ length: 20 }, (_, index) => `n-${String(index).padStart(2, "0")}`);
      await Promise.all(names.map((name) => create(name)));
      await using watch = new WatchReader(world.configMaps, { namespace, labelSelector, ...initial });
      const events = await watch.take(21);
      expect(events.slice(0, 20).toSorted()).toEqual(names.map((name) => `ADDED ${name}`));
      expect(events[20]).toBe("BOOKMARK");
    });

    test("without a version to match is Invalid", async () => {
      await using watch = new WatchReader(world.configMaps, {
        ...{ namespace, allowWatchBookmarks: true, sendInitialEvents: true },
      });
      await refused(watch.next(), errors.Invalid);
    });
  });
}
