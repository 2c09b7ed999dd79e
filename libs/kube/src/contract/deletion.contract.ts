import { beforeAll, describe, expect, test } from "@jest/globals";
import { eventually } from "@evenkeel/runtime/testing";
import * as errors from "../errors.ts";
import type { OwnerReference } from "../objects/object.ts";
import { type ConfigMap, namespaces } from "../objects/resource-types.ts";
import { isGone, nameOf, refused, WatchReader, type World } from "./world.ts";

const FINALIZER = "example.com/contract";

/** Deletion: finalizers, owners and namespaces. */
export function deletionContract(world: World): void {
  let namespace: string;
  beforeAll(async () => {
    namespace = await world.namespace();
  });

  const finalized = (name: string): Promise<ConfigMap> =>
    world.configMaps.create({ metadata: { namespace, name, finalizers: [FINALIZER] } });
  const setFinalizers = (name: string, finalizers: readonly string[] | null): Promise<ConfigMap> =>
    world.configMaps.patch({ namespace, name }, { type: "merge", body: { metadata: { finalizers } } });
  const gone = (name: string): Promise<boolean> => isGone(world.configMaps, { namespace, name });

  describe("finalizers", () => {
    test("keep a deleted object until the last one is removed", async () => {
      const created = await finalized("kept");
      const deleted = await world.configMaps.delete(nameOf(created));
      expect(deleted?.metadata.deletionTimestamp).toMatch(/Z$/);
      expect(await gone("kept")).toBe(false);
      await setFinalizers("kept", null);
      expect(await gone("kept")).toBe(true);
    });

    test("can be removed from a deleted object but not added to it", async () => {
      const created = await finalized("closed");
      await world.configMaps.delete(nameOf(created));
      const error = await refused(setFinalizers("closed", [FINALIZER, "example.com/late"]), errors.Invalid);
      expect(error.causes[0]?.field).toBe("metadata.finalizers");
      await setFinalizers("closed", null);
    });

    test("show a watcher first the deletionTimestamp, then the removal", async () => {
      const created = await finalized("watched");
      const { resourceVersion } = created.metadata;
      const fieldSelector = "metadata.name=watched";
      await using watch = new WatchReader(world.configMaps, { namespace, fieldSelector, resourceVersion });
      await world.configMaps.delete(nameOf(created));
      await setFinalizers("watched", null);
      expect(await watch.take(2)).toEqual(["MODIFIED watched", "DELETED watched"]);
    });

    test("keep the first deletionTimestamp when the object is deleted again", async () => {
      const created = await finalized("twice");
      const first = await world.configMaps.delete(nameOf(created));
      const second = await world.configMaps.delete(nameOf(created));
      expect(second?.metadata.deletionTimestamp).toBe(first?.metadata.deletionTimestamp);
      await setFinalizers("twice", null);
    });

    test("do not prevent writes of the object", async () => {
      const created = await finalized("writable");
      await world.configMaps.delete(nameOf(created));
      const body = { data: { still: "here" } };
      expect((await world.configMaps.patch(nameOf(created), { type: "merge", body })).data).toEqual(body.data);
      await setFinalizers("writable", null);
    });
  });

  describe("owners", () => {
    const owned = (
      name: string,
      owners: readonly ConfigMap[],
      finalizers: readonly string[] = [],
    ): Promise<ConfigMap> =>
      world.configMaps.create({ metadata: { namespace, name, finalizers, ownerReferences: owners.map(reference) } });

    test("are deleted with what they own", async () => {
      const owner = await world.configMap(namespace, "owner");
      await owned("owned", [owner]);
      await owned("owned-too", [owner]);
      await world.configMaps.delete(nameOf(owner), { propagationPolicy: "Background" });
      expect(await gone("owner")).toBe(true);
      await eventually(async () => (await gone("owned")) && (await gone("owned-too")));
    });

    test("that orphan their objects are removed from the references", async () => {
      const owner = await world.configMap(namespace, "leaver");
      const orphan = await owned("orphan", [owner]);
      await world.configMaps.delete(nameOf(owner), { propagationPolicy: "Orphan" });
      await eventually(() => gone("leaver"));
      expect((await world.configMaps.get(nameOf(orphan))).metadata.ownerReferences ?? []).toEqual([]);
    });

    test("that are deleted in the foreground wait for what they own", async () => {
      const owner = await world.configMap(namespace, "waiting");
      await owned("slow", [owner], [FINALIZER]);
      const deleted = await world.configMaps.delete(nameOf(owner), { propagationPolicy: "Foreground" });
      expect(deleted?.metadata.finalizers).toContain("foregroundDeletion");
      const marked = await eventually(async () => {
        const { metadata } = await world.configMaps.get({ namespace, name: "slow" });
        return metadata.deletionTimestamp !== undefined && metadata;
      });
      expect(marked.finalizers).toContain(FINALIZER);
      expect(await gone("waiting")).toBe(false);
      await setFinalizers("slow", null);
      await eventually(() => gone("waiting"));
    });

    test("keep the object until the last one is deleted", async () => {
      const [leaver, stayer] = [await world.configMap(namespace, "one"), await world.configMap(namespace, "other")];
      const child = await owned("child-of-two", [leaver, stayer]);
      await world.configMaps.delete(nameOf(leaver));
      const kept = await eventually(async () => {
        const { metadata } = await world.configMaps.get(nameOf(child));
        return metadata.ownerReferences?.length === 1 && metadata;
      });
      expect(kept.ownerReferences).toMatchObject([{ name: "other" }]);
    });

    test("that are gone do not keep an object that is created later", async () => {
      const owner = await world.configMap(namespace, "past");
      await world.configMaps.delete(nameOf(owner));
      await owned("late", [owner]);
      await eventually(() => gone("late"));
    });
  });

  describe("namespaces", () => {
    test("are deleted with their objects, and nothing is created in a terminating one", async () => {
      const going = await world.namespace();
      const keeper = await world.configMaps.create({
        metadata: { namespace: going, name: "keeper", finalizers: [FINALIZER] },
      });
      await world.configMap(going, "content");
      await world.admin.resource(namespaces).delete({ name: going });
      const error = await refused(world.configMap(going, "too-late"), errors.Forbidden);
      expect(error.causes).toContainEqual(expect.objectContaining({ reason: "NamespaceTerminating" }));
      await eventually(() => isGone(world.configMaps, { namespace: going, name: "content" }));
      const body = { metadata: { finalizers: null } };
      await world.configMaps.patch(nameOf(keeper), { type: "merge", body });
      await eventually(() => isGone(world.admin.resource(namespaces), { name: going }));
    });
  });
}

function reference({ metadata: { name = "", uid = "" } }: ConfigMap): OwnerReference {
  return { apiVersion: "v1", kind: "ConfigMap", name, uid, blockOwnerDeletion: true };
}
