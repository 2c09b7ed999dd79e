import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { type Cluster, startCluster } from "@evenkeel/control-plane";
import {
  addFinalizer,
  applier,
  type ConfigMap,
  configMaps,
  connectKube,
  controllerOf,
  EventRecorder,
  events,
  eventSink,
  keyOf,
  type KubeClient,
  type Pod,
  pods,
  Reflector,
  removeFinalizer,
  Store,
  withOwner,
} from "@evenkeel/kube";
import { type Decision, systemClock } from "@evenkeel/runtime";
import { silentLog } from "@evenkeel/runtime/testing";

const log = silentLog();
const common = { clock: systemClock, random: Math.random, log };
const ever = new AbortController().signal;

let cluster: Cluster;
let client: KubeClient;

beforeAll(async () => {
  cluster = await startCluster({ name: "machinery", nodes: 1 });
  const settings = {
    ...{ kubeconfig: cluster.kubeconfig, kubeContext: undefined, kubeDeadline: 30_000 },
    ...{ kubeConnections: 4, kubeQps: 0, kubeBurst: 1 },
  };
  client = connectKube({ settings, env: {}, userAgent: "evenkeel-machinery/1" });
}, 180_000);
afterAll(async () => {
  await client.stop();
  await cluster.stop();
}, 60_000);

const configMap = (name: string, value = "1"): ConfigMap => ({
  ...{ apiVersion: "v1", kind: "ConfigMap", metadata: { namespace: "default", name } },
  data: { value },
});

describe("on a real API server", () => {
  test.each([
    ["a streamed list", true],
    ["a paged list", false],
  ])("a reflector follows %s and what comes after", async (_how, streamLists) => {
    const resource = client.resource(configMaps);
    const label = { reflected: String(streamLists) };
    const put = (name: string, value: string) =>
      resource.apply(
        { ...configMap(name, value), metadata: { namespace: "default", name, labels: label } },
        { fieldManager: "test", force: true },
      );
    for (let index = 0; index < 7; index++) await put(`first-${String(streamLists)}-${index}`, "1");
    const store = new Store<ConfigMap, "value">({ log, indexes: { value: ({ data }) => [data?.["value"] ?? ""] } });
    const selection = { namespace: "default", labelSelector: `reflected=${String(streamLists)}` };
    const reflector = new Reflector({
      name: "things",
      resource,
      store,
      selection,
      streamLists,
      pageSize: 3,
      ...common,
    });
    reflector.start();
    await store.whenSynced(ever);
    expect(store.size).toBe(7);
    const changed = new Promise<void>((resolve) => {
      store.subscribe(({ type }) => {
        if (type === "deleted") resolve();
      });
    });
    await put("second", "2");
    await resource.delete({ namespace: "default", name: "second" });
    await changed;
    expect([store.size, [...store.by("value", "1")].length, [...store.by("value", "2")].length]).toEqual([7, 7, 0]);
    expect([...store.values()].every(({ metadata }) => metadata.managedFields === undefined)).toBe(true);
    await reflector.stop();
  });

  test("Events of decisions are taken, counted up, and shown by kubectl describe", async () => {
    const pod = await client.resource(pods).create(busyPod("decided"));
    const recorder = new EventRecorder({
      ...{ events: client.resource(events), controller: "evenkeel.io/machinery", instance: "machinery-0", ...common },
      limits: { gather: 50 },
    });
    const sink = eventSink({
      recorder,
      refer: (object) => ({ ...object, apiVersion: "v1", uid: pod.metadata.uid ?? "" }),
    });
    const decision: Decision = {
      ...{ id: "1", at: new Date().toISOString(), object: { kind: "Pod", namespace: "default", name: "decided" } },
      ...{ action: "evict", reason: "NodeTooFull", before: null, after: null, dryRun: false },
      message: `it leaves; ${"é".repeat(2000)}`,
    };
    for (let time = 0; time < 3; time++) sink.record(decision);
    await recorder.stop(ever);
    const { items } = await client.resource(events).list({ namespace: "default", fieldSelector: "reason=NodeTooFull" });
    expect(items).toMatchObject([
      { action: "evict", reportingController: "evenkeel.io/machinery", series: { count: 3 }, type: "Normal" },
    ]);
    expect(Buffer.byteLength(items[0]?.note ?? "")).toBeLessThanOrEqual(1024);
    const { stdout } = await cluster.kubectl(["describe", "pod", "decided"]);
    expect(stdout).toContain("NodeTooFull");
    await client.resource(pods).delete({ namespace: "default", name: "decided" }, { gracePeriodSeconds: 0 });
  });

  test("finalizers are added and removed beside those of others, from an outdated copy too", async () => {
    const resource = client.resource(configMaps);
    const outdated = await resource.create(configMap("held"));
    await addFinalizer(resource, outdated, "example.com/theirs");
    const held = (await addFinalizer(resource, outdated, "evenkeel.io/ours")) ?? outdated;
    expect(held.metadata.finalizers).toEqual(["example.com/theirs", "evenkeel.io/ours"]);
    const name = { namespace: "default", name: "held" };
    expect((await resource.delete(name))?.metadata.deletionTimestamp).toBeDefined();
    const left = await removeFinalizer(resource, held, "example.com/theirs");
    expect(left?.metadata.finalizers).toEqual(["evenkeel.io/ours"]);
    await removeFinalizer(resource, held, "evenkeel.io/ours");
    await expect(resource.get(name)).rejects.toMatchObject({ code: "EK_KUBE_NOT_FOUND" });
    expect(await removeFinalizer(resource, held, "evenkeel.io/ours")).toBeUndefined();
  });

  test("a controller states what it wants of an object that it owns, and takes it back by leaving it out", async () => {
    const resource = client.resource(configMaps);
    const owner = await resource.create(configMap("owner"));
    const us = applier("machinery");
    const wanted = withOwner({ ...configMap("owned"), data: { one: "1", two: "2" } }, owner);
    const written = await us.apply(resource, wanted);
    expect(controllerOf(written)?.uid).toBe(owner.metadata.uid);
    const again = await us.apply(resource, { ...written, data: { one: "1" } });
    expect(again.data).toEqual({ one: "1" });
    expect(keyOf(again)).toBe("default/owned");
  });
});

function busyPod(name: string): Pod {
  return {
    ...{ apiVersion: "v1", kind: "Pod", metadata: { namespace: "default", name } },
    spec: { containers: [{ name: "main", image: "none" }] },
  };
}
