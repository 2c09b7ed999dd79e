import { describe, expect, test } from "@jest/globals";
import { eventually } from "@evenkeel/runtime/testing";
import { createChannel, createClient, ServerError, Status } from "nice-grpc";
import {
  ExternalScalerDefinition,
  type ExternalScalerServiceImplementation,
  GetMetricsResponse,
  ScaledObjectRef,
} from "./generated/externalscaler/externalscaler.ts";
import type { Served } from "./server/served.ts";
import { any, startServer } from "./testing/rpc-world.ts";

const open = "anyone" as const;

function scaler(played: Partial<ExternalScalerServiceImplementation>): Served<ExternalScalerDefinition> {
  const unimplemented = () => {
    throw new ServerError(Status.UNIMPLEMENTED, "not here");
  };
  return {
    definition: ExternalScalerDefinition,
    implementation: {
      isActive: unimplemented,
      streamIsActive: unimplemented,
      getMetricSpec: unimplemented,
      getMetrics: unimplemented,
      streamMetricSpec: unimplemented,
      ...played,
    },
    // KEDA sends no token.
    access: { isActive: open, streamIsActive: open, getMetricSpec: open, getMetrics: open, streamMetricSpec: open },
  };
}

const reference = { name: "checkout", namespace: "shop", scalerMetadata: { scalerAddress: "scale-resolver:9090" } };

describe("the wire", () => {
  test("a reference has KEDA's field numbers", () => {
    const bytes = ScaledObjectRef.encode({ name: "a", namespace: "b", scalerMetadata: { k: "v" } }).finish();
    // 1: "a", 2: "b", 3: { 1: "k", 2: "v" }
    expect(Buffer.from(bytes).toString("hex")).toBe("0a0161" + "120162" + "1a06" + "0a016b" + "120176");
  });

  test("a metric's value has KEDA's field numbers, with the whole number as a varint and the float as a double", () => {
    const bytes = GetMetricsResponse.encode({
      metricValues: [{ metricName: "q", metricValue: 7n, metricValueFloat: 1.5 }],
    }).finish();
    expect(Buffer.from(bytes).toString("hex")).toBe("0a0e" + "0a0171" + "1007" + "19000000000000f83f");
  });
});

test("KEDA's calls, in KEDA's order, get the answers of the service", async () => {
  const edges = Promise.withResolvers<undefined>();
  const asked: unknown[] = [];
  await using running = await startServer([
    any(
      scaler({
        isActive: (request) => (asked.push(request), Promise.resolve({ result: true })),
        getMetricSpec: () =>
          Promise.resolve({ metricSpecs: [{ metricName: "pending", targetSize: 10n, targetSizeFloat: 10 }] }),
        getMetrics: ({ metricName }) =>
          Promise.resolve({ metricValues: [{ metricName, metricValue: 3n, metricValueFloat: 2.5 }] }),
        streamIsActive: async function* () {
          yield { result: false };
          await edges.promise;
          yield { result: true };
          await new Promise<never>(() => undefined);
        },
      }),
    ),
  ]);
  const channel = createChannel(running.address);
  const keda = createClient(ExternalScalerDefinition, channel);

  const pushed: boolean[] = [];
  let end: unknown;
  const stream = (async () => {
    for await (const { result } of keda.streamIsActive(reference)) pushed.push(result);
  })().then(
    () => (end = "OK"),
    (error: unknown) => (end = error),
  );
  await eventually(() => pushed.length === 1);
  await expect(keda.getMetricSpec(reference)).resolves.toEqual({
    metricSpecs: [{ metricName: "pending", targetSize: 10n, targetSizeFloat: 10 }],
  });
  await expect(keda.getMetrics({ scaledObjectRef: reference, metricName: "pending" })).resolves.toEqual({
    metricValues: [{ metricName: "pending", metricValue: 3n, metricValueFloat: 2.5 }],
  });
  await expect(keda.isActive(reference)).resolves.toEqual({ result: true });
  expect(asked).toEqual([reference]);
  edges.resolve(undefined);
  await eventually(() => pushed.length === 2);
  expect(pushed).toEqual([false, true]);

  // KEDA forgets its back-off only after a clean end.
  await running.server.drain(new AbortController().signal);
  await stream;
  expect(end).toBe("OK");
  channel.close();
});

test("KEDA falls back where a scaler has no StreamMetricSpec: the status is UNIMPLEMENTED", async () => {
  await using running = await startServer([any(scaler({}))]);
  const channel = createChannel(running.address);
  const specs = createClient(ExternalScalerDefinition, channel).streamMetricSpec(reference);
  await expect(specs[Symbol.asyncIterator]().next()).rejects.toMatchObject({ code: Status.UNIMPLEMENTED });
  channel.close();
});
