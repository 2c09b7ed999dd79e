import type { Service } from "@evenkeel/kube";
import { FakeClock } from "@evenkeel/runtime/testing";
import { describe, expect, test } from "@jest/globals";
import { TargetForbidden, TargetKindUnknown, TargetNotFound } from "../act/errors.ts";
import type { Binding, TargetRef } from "../binding.ts";
import { checkout, NOON } from "../testing/quiet-service.ts";
import { Targets, type TargetsOptions } from "./targets.ts";

const never = new AbortController().signal;
const INTERVAL = 30_000;

/** Workloads with a read that returns the next of `replicas`, and the number of reads. */
function setUp(replicas: readonly (number | Error)[], template: object | Error = {}) {
  const clock = new FakeClock(NOON);
  const reads: string[] = [];
  const targets = new Targets({
    replicas: (namespace: string, { name }: TargetRef) => {
      const next = replicas[Math.min(reads.length, replicas.length - 1)] ?? 0;
      reads.push(`${namespace}/${name}`);
      return next instanceof Error ? Promise.reject(next) : Promise.resolve(next);
    },
    kube: {
      resource: () => ({
        get: () =>
          template instanceof Error
            ? Promise.reject(template)
            : Promise.resolve({ spec: { template: { spec: template } } }),
      }),
    },
    keda: { fault: (_: string, name: string) => Promise.resolve(`KEDA is too old for ${name}`) },
    clock,
    interval: INTERVAL,
  } as unknown as TargetsOptions);
  return { targets, clock, reads };
}

const service: Service = {
  metadata: { namespace: "shop", name: "checkout" },
  spec: { ports: [{ port: 80, targetPort: "http" }, { port: 9090 }] },
};
const missing = new TargetNotFound({ kind: "Deployment", target: "shop/checkout" });

describe("the workload of an ElastiService", () => {
  test.each([missing, new TargetKindUnknown({ apiVersion: "apps/v2", kind: "Deployment" })])(
    "is a fault if it cannot be there: $code",
    async (error) => {
      const { targets } = setUp([error]);
      const { fault } = await targets.read(checkout, service, never);
      expect(fault).toContain(error.message);
      expect(targets.known(checkout).fault).toBe(fault);
    },
  );

  test.each([
    new TargetForbidden({ verb: "get", kind: "Deployment", target: "shop/checkout" }),
    new Error("timed out"),
  ])("is no fault if it cannot be read: $message", async (error) => {
    const { targets } = setUp([error]);
    expect(await targets.read(checkout, service, never)).toEqual({ stop: null, autoscalerFault: null });
  });

  test("is looked for again after a while if it was not found, and when the spec changes", async () => {
    const { targets, clock, reads } = setUp([missing, 1]);
    await targets.read(checkout, service, never);
    await targets.read(checkout, service, never);
    expect(reads).toHaveLength(1);
    await clock.advance(INTERVAL);
    expect((await targets.read(checkout, service, never)).fault).toBeUndefined();
    const edited: Binding = { ...checkout, generation: 2, target: { ...checkout.target, name: "basket" } };
    expect(targets.known(edited)).toEqual({ stop: null, autoscalerFault: null });
    await targets.read(edited, service, never);
    expect(reads).toEqual(["shop/checkout", "shop/checkout", "shop/basket"]);
  });

  test("is read seldom once it was found", async () => {
    const { targets, clock, reads } = setUp([2]);
    await targets.read(checkout, service, never);
    await clock.advance(INTERVAL);
    await targets.read(checkout, service, never);
    expect(reads).toHaveLength(1);
    await clock.advance(600_000);
    await targets.read(checkout, service, never);
    expect(reads).toHaveLength(2);
    targets.forget(checkout.uid);
    await targets.read(checkout, service, never);
    expect(reads).toHaveLength(3);
  });
});

test("its autoscaler is judged, unless it is an hpa or is created here", async () => {
  const fault = async (change: Partial<Binding>) =>
    (await setUp([1]).targets.read({ ...checkout, ...change }, service, never)).autoscalerFault;
  const autoscaler = { type: "keda", name: "scaled" } as const;
  expect(await fault({ autoscaler })).toContain("scaled");
  expect(await fault({ autoscaler: { ...autoscaler, type: "hpa" } })).toBeNull();
  expect(
    await fault({ autoscaler, scaledObject: { name: "scaled", maxReplicas: 1, targetConcurrency: 1 } }),
  ).toBeNull();
  expect(await fault({})).toBeNull();
});

describe("how its pods stop", () => {
  const hook = { lifecycle: { preStop: { sleep: { seconds: 2 } } } };
  test.each([
    [{ containers: [{}] }, { hasPreStop: false, graceSeconds: 30 }],
    [
      { containers: [hook, hook], terminationGracePeriodSeconds: 5 },
      { hasPreStop: true, graceSeconds: 5 },
    ],
    // Any of them may serve.
    [{ containers: [{}, hook] }, { hasPreStop: false, graceSeconds: 30 }],
    // Those with a port of the Service serve.
    [
      {
        containers: [{ ports: [{ containerPort: 2020 }] }, { ...hook, ports: [{ name: "http", containerPort: 8080 }] }],
      },
      { hasPreStop: true, graceSeconds: 30 },
    ],
    [{ containers: [hook, { ports: [{ containerPort: 9090 }] }] }, { hasPreStop: false, graceSeconds: 30 }],
    [new Error("forbidden"), null],
  ])("is in its template", async (template, stop) => {
    expect(await setUp([1], template).targets.read(checkout, service, never)).toEqual({ stop, autoscalerFault: null });
  });

  test("is not known of other kinds", async () => {
    const target = { apiVersion: "argoproj.io/v1alpha1", kind: "Rollout", name: "checkout" };
    expect(await setUp([1]).targets.read({ ...checkout, target }, service, never)).toEqual({
      stop: null,
      autoscalerFault: null,
    });
  });
});
