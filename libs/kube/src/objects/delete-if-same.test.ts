import { expect, test } from "@jest/globals";
import { Conflict, Forbidden, NotFound } from "../errors.ts";
import { MemoryResource, refusal } from "../testing/memory-resource.ts";
import { deleteIfSame } from "./delete-if-same.ts";
import type { KubeObject } from "./object.ts";

function world() {
  const resource = new MemoryResource<KubeObject>();
  const object = resource.put({ metadata: { namespace: "shop", name: "web", uid: "1" } });
  return { resource, object };
}

test("deletes the object with this uid", async () => {
  const { resource, object } = world();
  const { signal } = new AbortController();
  expect(await deleteIfSame(resource, object, { signal, propagationPolicy: "Background" })).toBe(true);
  expect(resource.objects.size).toBe(0);
  expect(resource.calls.at(-1)?.options).toMatchObject({
    object: { namespace: "shop", name: "web" },
    preconditions: { uid: "1" },
    propagationPolicy: "Background",
    signal,
  });
});

test.each([
  ["gone", NotFound, 404],
  ["replaced", Conflict, 409],
])("is false when the object is %s", async (_, kind, status) => {
  const { resource, object } = world();
  resource.failNext("delete", () => refusal(kind, status, "no"));
  expect(await deleteIfSame(resource, object)).toBe(false);
});

test("throws every other refusal", async () => {
  const { resource, object } = world();
  resource.failNext("delete", () => refusal(Forbidden, 403, "no"));
  await expect(deleteIfSame(resource, object)).rejects.toBeInstanceOf(Forbidden);
});
