import { externalScaler } from "@evenkeel/rpc";
import { FakeClock } from "@evenkeel/runtime/testing";
import { describe, expect, test } from "@jest/globals";
import type { ClusterView } from "../observe/cluster-view.ts";
import { loopback } from "../testing/loopback-rpc.ts";
import { checkout, NOON } from "../testing/quiet-service.ts";
import { boardOf, seenBy, stored } from "../testing/shown-service.ts";
import { CONCURRENCY, type ScaledServiceView, externalScalerService, scaledServiceViews } from "./external-scaler.ts";

const reference = { name: "checkout", namespace: "shop", scalerMetadata: {} };
const ASLEEP: ScaledServiceView = {
  state: "Zero",
  ready: 0,
  starting: 0,
  releasing: false,
  requests: 0,
  requestRate: 0,
};
const WARM: ScaledServiceView = { ...ASLEEP, state: "Serve", ready: 1 };

test("reports the known requests to KEDA, and no state of an unknown service", () => {
  const activities = { seen: () => seenBy({ replica: "a", pending: 1 }, { replica: "b", inFlight: 2 }) };
  const bindings = { ownerOf: () => undefined };
  const view = { pods: () => null, bindings, binding: () => checkout } as unknown as ClusterView;
  const read = () => Promise.reject(new Error("not now"));
  const { viewOf } = scaledServiceViews(view, boardOf().board, activities, () => () => undefined, read);
  expect(viewOf("shop/checkout")).toEqual({ ...ASLEEP, state: null, requests: 3 });
});

test.each([
  ["deleted", { deletionTimestamp: NOON }],
  ["released", { annotations: { "evenkeel.io/release": "true" } }],
])("reports a service whose object is %s as releasing", async (_name, metadata) => {
  const owner = stored("checkout", { metadata: { namespace: "shop", name: "checkout", ...metadata } });
  const bindings = { ownerOf: () => owner };
  const view = { pods: () => null, bindings, binding: () => checkout } as unknown as ClusterView;
  const views = scaledServiceViews(
    view,
    boardOf().board,
    { seen: () => seenBy({}) },
    () => () => undefined,
    () => Promise.resolve(4),
  );
  expect(views.viewOf("shop/checkout")).toMatchObject({ releasing: true });
  expect(await views.replicas("shop/checkout")).toBe(4);
});

/** A scaler with a scripted view, and a client of it. */
async function scaler(first: ScaledServiceView, replicas: number | null = null) {
  const clock = new FakeClock();
  const listeners = new Set<(key: string) => void>();
  let view = first;
  const served = externalScalerService({
    find: (namespace, name) => (name === "checkout" ? `${namespace}/${name}` : undefined),
    viewOf: () => view,
    replicas: () => Promise.resolve(replicas),
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    clock,
  });
  const { peer, [Symbol.asyncDispose]: stop } = await loopback(served);
  const see = (seen: ScaledServiceView, key = "shop/checkout") => {
    view = seen;
    for (const listener of listeners) listener(key);
  };
  const client = peer.client(externalScaler.ExternalScalerDefinition);
  return { client, clock, listeners, see, [Symbol.asyncDispose]: stop };
}

test.each([
  ["the ScaledObject where it names no Service", {}, /NO_SUCH_SCALED_SERVICE.* ScaledObject shop\/chekout/],
  [
    "the Service that it names",
    { service: "chekout" },
    /NO_SUCH_SCALED_SERVICE.* Service shop\/chekout.* ScaledObject/,
  ],
])("an unmanaged service is refused with %s", async (_what, scalerMetadata, named) => {
  await using asked = await scaler(ASLEEP);
  await expect(asked.client.isActive({ ...reference, name: "chekout", scalerMetadata })).rejects.toThrow(named);
});

/** The messages of a stream, as they arrive. */
function following(open: (options: { readonly signal: AbortSignal }) => AsyncIterable<{ readonly result: boolean }>) {
  const leaving = new AbortController();
  const iterator = open({ signal: leaving.signal })[Symbol.asyncIterator]();
  let next = iterator.next();
  const isSilent = Symbol("silent");
  return {
    async said(): Promise<boolean | undefined> {
      const { value } = (await next) as { readonly value: { readonly result: boolean } | undefined };
      next = iterator.next();
      return value?.result;
    },
    async isSilent(): Promise<boolean> {
      const moment = new Promise((resolve) => setTimeout(() => resolve(isSilent), 50));
      return (await Promise.race([next, moment])) === isSilent;
    },
    end: async () => {
      leaving.abort();
      await next.catch(() => undefined);
    },
  };
}

test.each<[string, boolean, ScaledServiceView, number?]>([
  ["it sleeps", false, ASLEEP],
  ["it serves and nobody is seen", true, WARM],
  ["it is guarded", true, { ...WARM, state: "Guard" }],
  ["it wakes", true, { ...ASLEEP, state: "Wake" }],
  ["its state is not known yet", true, { ...ASLEEP, state: null }],
  ["a request waits or is under way anywhere", true, { ...ASLEEP, requests: 1 }],
  ["a pod starts, whoever asked for it", true, { ...ASLEEP, starting: 1 }],
  ["a pod is ready though it was put to sleep", true, { ...ASLEEP, ready: 1 }],
  ["it is released", true, { ...ASLEEP, releasing: true }],
  ["a pod without an address starts", true, ASLEEP, 1],
])("when %s, that it is active is %p", async (_, active, view, replicas = 0) => {
  await using service = await scaler(view, replicas);
  expect(await service.client.isActive(reference)).toEqual({ result: active });
});

test.each<[string, number, ScaledServiceView, (number | null)?]>([
  ["nobody asks while it sleeps", 0, ASLEEP],
  ["requests wait for a wake", 7, { ...ASLEEP, requests: 7 }],
  ["it serves past the resolver", 30, { ...WARM, ready: 3 }],
  ["the resolver sees a part of it only", 30, { ...WARM, state: "Guard", ready: 3, requests: 2 }],
  ["the resolver sees more than the pods should have", 50, { ...WARM, state: "Guard", requests: 50 }],
  ["its last pod leaves", 0, { ...ASLEEP, ready: 1 }, 0],
  ["some of its pods are not ready", 40, { ...WARM, ready: 2, starting: 1 }, 4],
  ["its replicas cannot be read", 30, { ...WARM, ready: 2, starting: 1 }, null],
])("when %s, the metric is %p", async (_, value, view, replicas = null) => {
  await using service = await scaler(view, replicas);
  const scaledObjectRef = { ...reference, scalerMetadata: { targetConcurrency: "10" } };
  expect(await service.client.getMetrics({ scaledObjectRef, metricName: CONCURRENCY })).toEqual({
    metricValues: [{ metricName: CONCURRENCY, metricValue: BigInt(value), metricValueFloat: value }],
  });
});

test.each(["", "0", "-1", "NaN", "1e999", "many"])("a target of %p is no target", async (targetConcurrency) => {
  await using service = await scaler(WARM);
  const { metricSpecs } = await service.client.getMetricSpec({ ...reference, scalerMetadata: { targetConcurrency } });
  expect(metricSpecs).toEqual([{ metricName: CONCURRENCY, targetSize: 100n, targetSizeFloat: 100 }]);
});

describe("the stream", () => {
  test("begins with the state, then sends changes, and nothing of other services", async () => {
    await using service = await scaler(ASLEEP);
    const stream = following((options) => service.client.streamIsActive(reference, options));
    expect(await stream.said()).toBe(false);
    service.see({ ...ASLEEP, requests: 1 }, "shop/cart");
    expect(await stream.isSilent()).toBe(true);
    service.see({ ...ASLEEP, requests: 1 });
    expect(await stream.said()).toBe(true);
    service.see(WARM);
    expect(await stream.isSilent()).toBe(true);
    service.see(ASLEEP);
    expect(await stream.said()).toBe(false);
    await stream.end();
  });

  test("repeats a change every two seconds until there are replicas, then every thirty", async () => {
    await using service = await scaler({ ...ASLEEP, requests: 1 });
    const stream = following((options) => service.client.streamIsActive(reference, options));
    expect(await stream.said()).toBe(true);
    for (let turn = 0; turn < 3; turn++) {
      await service.clock.advance(1999);
      expect(await stream.isSilent()).toBe(true);
      await service.clock.advance(1);
      expect(await stream.said()).toBe(true);
    }
    service.see(WARM);
    await service.clock.advance(29_000);
    expect(await stream.isSilent()).toBe(true);
    await service.clock.advance(1000);
    expect(await stream.said()).toBe(true);
    await stream.end();
  });

  test("is silent without changes, and leaves no listener behind", async () => {
    await using service = await scaler(ASLEEP);
    const stream = following((options) => service.client.streamIsActive(reference, options));
    expect(await stream.said()).toBe(false);
    await service.clock.advance(90_000);
    expect(await stream.isSilent()).toBe(true);
    expect(service.listeners.size).toBe(1);
    await stream.end();
    while (service.listeners.size > 0) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(service.clock.pending).toBe(0);
  });
});
