import { describe, expect, test } from "@jest/globals";
import { Forbidden, Invalid } from "../errors.ts";
import { addFinalizer, keepFinalizer, removeFinalizer } from "./finalizers.ts";
import type { KubeObject } from "./object.ts";
import { MemoryResource, refusal } from "../testing/memory-resource.ts";

const ours = "evenkeel.io/records";

function world(finalizers?: readonly string[]) {
  const resource = new MemoryResource<KubeObject>();
  const object = resource.put({ metadata: { namespace: "shop", name: "web", ...(finalizers ? { finalizers } : {}) } });
  const present = () => resource.objects.get("shop/web")?.metadata.finalizers;
  const touch = (metadata: KubeObject["metadata"]) => resource.put({ metadata: { ...object.metadata, ...metadata } });
  return { resource, object, present, touch };
}

describe("adding a finalizer", () => {
  test("adds it to an absent list and after others", async () => {
    const bare = world();
    await addFinalizer(bare.resource, bare.object, ours);
    expect(bare.present()).toEqual([ours]);
    const held = world(["other.io/hold"]);
    await addFinalizer(held.resource, held.object, ours);
    expect(held.present()).toEqual(["other.io/hold", ours]);
  });

  test("keeps what others added since the object was read", async () => {
    const { resource, object, present, touch } = world();
    touch({ finalizers: ["other.io/hold"] });
    await addFinalizer(resource, object, ours);
    expect(present()).toEqual(["other.io/hold", ours]);
  });

  test("sends nothing when it is there, or when the object is being deleted", async () => {
    const there = world([ours]);
    expect(await addFinalizer(there.resource, there.object, ours)).toBe(there.object);
    const { resource, touch } = world();
    await addFinalizer(resource, touch({ deletionTimestamp: "2026-01-01T00:00:00Z" }), ours);
    expect([there.resource.count("patch"), resource.count("patch")]).toEqual([0, 0]);
  });

  test("does not touch another object of the same name", async () => {
    const { resource, object, present } = world();
    resource.take("shop/web");
    resource.put({ metadata: { namespace: "shop", name: "web", uid: "another" } });
    expect(await addFinalizer(resource, object, ours)).toBeUndefined();
    expect(present()).toBeUndefined();
  });
});

describe("removing a finalizer", () => {
  test("removes that one, at whatever position it is now", async () => {
    const { resource, object, present, touch } = world([ours, "other.io/hold"]);
    touch({ finalizers: ["third.io/hold", ours, "other.io/hold"] });
    await removeFinalizer(resource, object, ours);
    expect(present()).toEqual(["third.io/hold", "other.io/hold"]);
  });

  test("does nothing when the object or the finalizer is gone", async () => {
    const { resource, object } = world([ours]);
    resource.take("shop/web");
    expect(await removeFinalizer(resource, object, ours)).toBeUndefined();
    const other = world(["other.io/hold"]);
    expect(await removeFinalizer(other.resource, other.object, ours)).toBe(other.object);
  });
});

describe("keeping a finalizer", () => {
  test("adds the one that is wanted and removes the one that is not", async () => {
    const { resource, object, present } = world(["other.io/hold"]);
    expect(await keepFinalizer(resource, object, ours, true)).toBe(true);
    expect(present()).toEqual(["other.io/hold", ours]);
    expect(await keepFinalizer(resource, resource.objects.get("shop/web") ?? object, ours, false)).toBe(true);
    expect(present()).toEqual(["other.io/hold"]);
  });

  test("sends nothing when it is as wanted", async () => {
    const { resource, object } = world([ours]);
    expect(await keepFinalizer(resource, object, ours, true)).toBe(true);
    expect(await keepFinalizer(resource, object, "other.io/hold", false)).toBe(true);
    expect(resource.count("patch")).toBe(0);
  });

  test.each([true, false])("is false for an object that is being deleted (wanted: %s)", async (wanted) => {
    const { resource, object, touch } = world(wanted ? [] : [ours]);
    touch({ deletionTimestamp: "2026-01-01T00:00:00Z" });
    expect(await keepFinalizer(resource, object, ours, wanted)).toBe(false);
  });

  test.each([true, false])("is false for an object that is gone or replaced (wanted: %s)", async (wanted) => {
    const { resource, object } = world(wanted ? [] : [ours]);
    resource.take("shop/web");
    expect(await keepFinalizer(resource, object, ours, wanted)).toBe(false);
    resource.put({ metadata: { namespace: "shop", name: "web", uid: "another" } });
    expect(await keepFinalizer(resource, object, ours, wanted)).toBe(false);
  });
});

test("an error that a retry does not help is thrown", async () => {
  const { resource, object } = world();
  resource.failNext("patch", () => refusal(Forbidden, 403, "no"));
  await expect(addFinalizer(resource, object, ours)).rejects.toBeInstanceOf(Forbidden);
  resource.failNext("patch", () => refusal(Invalid, 422, "no"));
  resource.failNext("get", () => refusal(Forbidden, 403, "no"));
  await expect(addFinalizer(resource, object, ours)).rejects.toBeInstanceOf(Forbidden);
});
