import { describe, expect, test } from "@jest/globals";
import { Forbidden, Timeout } from "../errors.ts";
import { MemoryResource, refusal } from "../testing/memory-resource.ts";
import { ScriptedServer } from "../testing/scripted-server.ts";
import { testClient, TestFolder } from "../testing/test-client.ts";
import type { ResourceTypeOf } from "./object.ts";
import { type Nulled, StatusWriter, type StoredObject } from "./status-writer.ts";

interface WidgetStatus {
  readonly phase: string;
  readonly weight?: number;
  readonly route?: { readonly name: string };
}
type Widget = StoredObject<WidgetStatus>;

const widgets: ResourceTypeOf<Widget> = {
  group: "example.com",
  version: "v1",
  kind: "Widget",
  plural: "widgets",
  namespaced: true,
};

const widget: Widget = {
  metadata: { namespace: "shop", name: "web", uid: "1" },
  status: { phase: "Idle", weight: 16, route: { name: "a" } },
};

function world() {
  const resource = new MemoryResource<Widget>();
  const object = resource.put(widget);
  const writer = new StatusWriter<Widget, WidgetStatus>(resource);
  const present = () => resource.objects.get("shop/web")?.status;
  return { resource, object, writer, present };
}

const term = () => ({ signal: new AbortController().signal });

describe("a status writer", () => {
  test("merges what is given, removes what is null and leaves what is absent", async () => {
    const { resource, object, writer, present } = world();
    await writer.write(object, { phase: "Busy", weight: null }, term());
    expect(present()).toEqual({ phase: "Busy", route: { name: "a" } });
    expect(resource.calls.at(-1)?.options).toMatchObject({
      object: { namespace: "shop", name: "web" },
      patch: { type: "merge", body: { metadata: { resourceVersion: object.metadata.resourceVersion } } },
    });
  });

  test("writes to the object although it was written since it was read", async () => {
    const { resource, object, writer, present } = world();
    resource.put({ ...object, metadata: { ...object.metadata, labels: { edited: "yes" } } });
    await writer.write(object, { phase: "Busy" }, term());
    await writer.write(object, { phase: "Done" }, term());
    expect(present()).toMatchObject({ phase: "Done" });
    expect(resource.objects.get("shop/web")?.metadata.labels).toEqual({ edited: "yes" });
  });

  test("writes nothing to an object that replaced the one that was read", async () => {
    const { resource, object, writer, present } = world();
    resource.take("shop/web");
    resource.put({ metadata: { namespace: "shop", name: "web", uid: "another" } });
    await writer.write(object, { phase: "Busy" }, term());
    expect(present()).toBeUndefined();
  });

  test("computes the status again from the present one after a conflict", async () => {
    const { resource, object, writer, present } = world();
    resource.put({ ...object, status: { phase: "Idle", weight: 10 } });
    const seen: (number | undefined)[] = [];
    const double = (status?: WidgetStatus): WidgetStatus => {
      seen.push(status?.weight);
      return { phase: "Busy", weight: 2 * (status?.weight ?? 0) };
    };
    await writer.write(object, double, term());
    expect(seen).toEqual([16, 10]);
    expect(present()).toEqual({ phase: "Busy", weight: 20 });
  });

  test("writes nothing where the present status is already the computed one", async () => {
    const { resource, object, writer, present } = world();
    const stored: WidgetStatus = { phase: "Idle", weight: 10 };
    resource.put({ ...object, status: stored });
    const atMost = (status?: WidgetStatus): WidgetStatus | undefined =>
      (status?.weight ?? 0) > 10 ? { phase: "Idle", weight: 9 } : status;
    await writer.write(object, atMost, term());
    expect(present()).toEqual(stored);
    expect(resource.count("patch")).toBe(1);
  });

  test("takes null for optional fields only", () => {
    const status: Nulled<WidgetStatus> = { phase: "Busy", weight: null, route: null };
    // @ts-expect-error: a required field cannot be removed.
    const wrong: Nulled<WidgetStatus> = { phase: null };
    expect([status.weight, wrong.phase]).toEqual([null, null]);
  });

  test("sends nothing when the status is the one that the object has", async () => {
    const { resource, object, writer } = world();
    if (object.status) await writer.write(object, object.status, term());
    expect(resource.count("patch")).toBe(0);
  });

  test("ignores NotFound, and no other refusal", async () => {
    const { resource, object, writer } = world();
    resource.failNext("patch", () => refusal(Forbidden, 403, "no"));
    await expect(writer.write(object, { phase: "Busy" }, term())).rejects.toBeInstanceOf(Forbidden);
    resource.take("shop/web");
    await writer.write(object, { phase: "Busy" }, term());
    expect(resource.count("patch")).toBe(2);
  });

  test("fails at its own deadline, and at the end of the term", async () => {
    await using server = await ScriptedServer.start(() => undefined);
    using folder = new TestFolder();
    await using client = testClient(folder.kubeconfig({ server: server.url }));
    // Otherwise a busy machine may read the kubeconfig for longer than the deadline, and than this test.
    await client.access();
    const writer = new StatusWriter<Widget, WidgetStatus>(client.resource(widgets), { deadline: 50 });
    await expect(writer.write(widget, { phase: "Busy" }, term())).rejects.toBeInstanceOf(Timeout);
    const ended = new Error("the term ended");
    const patient = new StatusWriter<Widget, WidgetStatus>(client.resource(widgets));
    await expect(patient.write(widget, { phase: "Busy" }, { signal: AbortSignal.abort(ended) })).rejects.toBe(ended);
  });
});
