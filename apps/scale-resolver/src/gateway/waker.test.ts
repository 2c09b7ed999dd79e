import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import type { ServerResponse } from "node:http";
import { type KubeObject, kubeErrors, type ResourceTypeOf } from "@evenkeel/kube";
import { sleep, systemClock } from "@evenkeel/runtime";
import { FakeClock } from "@evenkeel/runtime/testing";
import type { Fault } from "@evenkeel/sim";
import { ScaleCluster } from "../../test/scale-cluster.ts";
import { Autoscalers } from "../act/autoscalers.ts";
import { AutoscalerForbidden, BadTarget, TargetForbidden, TargetNotFound } from "../act/errors.ts";
import { Scales } from "../act/scales.ts";
import type { Workload } from "../act/wake-workload.ts";
import { type Scaled, Waker, type WakerOptions, type WakeRequest } from "./waker.ts";

const PATCH = "PATCH /apis/apps/v1/namespaces/shop/deployments/checkout/scale";
const READ = "GET /apis/apps/v1/namespaces/shop/deployments/checkout/scale";
const RESUME = "PATCH /apis/keda.sh/v1alpha1/namespaces/shop/scaledobjects/checkout";
const keda = { type: "keda", name: "checkout" } as const;
const scaledObjects: ResourceTypeOf<KubeObject> = {
  ...{ group: "keda.sh", version: "v1alpha1", kind: "ScaledObject", plural: "scaledobjects", namespaced: true },
};

describe("waking a workload for requests", () => {
  let cluster: ScaleCluster;
  let waker: Waker;
  let waiting: boolean;
  let scaled: { readonly key: string; readonly outcome: Scaled }[];

  const wakerWith = (options: Partial<WakerOptions> = {}): Waker =>
    new Waker({
      ...{ scales: new Scales(cluster.kube), autoscalers: new Autoscalers(cluster.kube) },
      ...{ clock: systemClock, random: () => 0.5, log: cluster.log },
      onScaled: (key, outcome) => scaled.push({ key, outcome }),
      ...options,
    });

  const target = { apiVersion: "apps/v1", kind: "Deployment", name: "checkout" };
  const request = (changes: Partial<Workload> = {}, key = "shop/checkout"): WakeRequest => ({
    key,
    workload: { namespace: "shop", target, minReplicas: 1, autoscaler: null, ...changes },
    needed: () => waiting,
  });

  const outcomes = () => scaled.map(({ outcome }) => outcome);

  const setUp = async (clock = systemClock): Promise<void> => {
    cluster = new ScaleCluster();
    await cluster.start(clock);
    scaled = [];
    waiting = true;
    waker = wakerWith({ clock });
  };

  const tearDown = async (): Promise<void> => {
    waker.stop();
    await cluster.stop();
  };

  /**
   * Processes events until a condition holds, and advances `clock` meanwhile, slowly enough for responses to arrive.
   */
  const until = async (holds: () => boolean, clock?: FakeClock, step = 10): Promise<void> => {
    const ends = systemClock.monotonic() + 20_000;
    while (!holds()) {
      if (systemClock.monotonic() > ends) throw new Error(`not within 20 s: ${holds.toString()}`);
      await clock?.advance(step);
      await sleep(systemClock, 1);
    }
  };

  const scaledObject = async (): Promise<void> => {
    await cluster.define("keda.sh", "v1alpha1", "ScaledObject", "scaledobjects", false);
    const annotations = { "autoscaling.keda.sh/paused": "true", "autoscaling.keda.sh/paused-replicas": "0" };
    const metadata = { namespace: "shop", name: "checkout", annotations };
    await cluster.admin.resource(scaledObjects).create({ metadata });
  };

  describe("in real time", () => {
    beforeEach(() => setUp());
    afterEach(tearDown);

    test("is known to a caller of hasWoken, during the call and for earlier observations", async () => {
      await cluster.deployment("checkout", 0);
      const began = systemClock.monotonic();
      expect(await waker.hasWoken("shop", target, began)).toBe(false);
      waker.wake(request());
      expect(await waker.hasWoken("shop", target, Infinity)).toBe(true);
      expect(outcomes()).toEqual(["woken"]);
      expect(await waker.hasWoken("shop", target, began)).toBe(true);
      expect(await waker.hasWoken("shop", target, systemClock.monotonic() + 1)).toBe(false);
      expect(await waker.hasWoken("shop", { ...target, name: "other" }, began)).toBe(false);
    });

    test("is not taken for done where it failed", async () => {
      await cluster.deployment("checkout", 0);
      cluster.faults.add({ fault: { kind: "status", code: 500 }, verb: "patch", resource: "deployments" });
      const began = systemClock.monotonic();
      waker.wake(request());
      expect(await waker.hasWoken("shop", target, began)).toBe(false);
    });

    test("is one patch of the scale, with nothing before it", async () => {
      await cluster.deployment("checkout", 0);
      waker.wake(request({ minReplicas: 3 }));
      await until(() => scaled.length > 0);
      expect(await cluster.replicas("checkout")).toBe(3);
      expect(cluster.calls).toEqual([PATCH]);
      expect(scaled).toEqual([{ key: "shop/checkout", outcome: "woken" }]);
    });

    test("is in progress when wake returns, the scale call first", () => {
      const order: string[] = [];
      const never = (what: string) => () => {
        order.push(what);
        return new Promise<never>(() => undefined);
      };
      const started = wakerWith({ scales: { wake: never("scale") }, autoscalers: { resume: never("autoscaler") } });
      started.wake(request({ autoscaler: keda }));
      expect(order).toEqual(["scale", "autoscaler"]);
    });

    test("is one patch for 500 concurrent requests", async () => {
      await cluster.deployment("checkout", 0);
      for (let count = 0; count < 500; count++) waker.wake(request());
      await until(() => scaled.length > 0);
      for (let count = 0; count < 500; count++) waker.wake(request());
      waiting = false;
      expect([await cluster.replicas("checkout"), cluster.calls]).toEqual([1, [PATCH]]);
    });

    test("does not change a workload that is awake", async () => {
      await cluster.deployment("checkout", 4);
      waker.wake(request());
      await until(() => scaled.length > 0);
      expect([await cluster.replicas("checkout"), outcomes()]).toEqual([4, ["awake"]]);
    });

    test("is done for each workload, also while another's is stuck", async () => {
      await cluster.deployment("checkout", 0);
      await cluster.deployment("cart", 0);
      cluster.before = (call) => (call === PATCH ? "handled" : "pass");
      waker.wake(request());
      waker.wake(request({ target: { ...target, name: "cart" } }, "shop/cart"));
      await until(() => scaled.length > 0);
      expect(scaled[0]).toMatchObject({ key: "shop/cart", outcome: "woken" });
    });

    const faults: Fault[] = [
      { kind: "status", code: 503 },
      { kind: "status", code: 500 },
      { kind: "status", code: 429, retryAfterSeconds: 1 },
      { kind: "reset" },
      { kind: "hang" },
    ];
    test.each(faults)("succeeds after %j", async (fault) => {
      await cluster.deployment("checkout", 0);
      cluster.faults.add({ fault, verb: "patch", times: 1 });
      waker.wake(request());
      await until(() => outcomes().includes("woken"));
      expect(await cluster.replicas("checkout")).toBe(1);
      expect(cluster.calls).toEqual([PATCH, PATCH]);
    });

    test("succeeds after a conflict", async () => {
      await cluster.deployment("checkout", 0);
      let conflicts = 3;
      cluster.before = (_call, response) => (conflicts-- > 0 ? refuse(response, 409, "Conflict") : "pass");
      waker.wake(request());
      await until(() => outcomes().includes("woken"));
      expect(outcomes()).toEqual(["failed", "failed", "failed", "woken"]);
    });

    test("is found done after an answer that was lost", async () => {
      await cluster.deployment("checkout", 0);
      let lost = false;
      cluster.before = async (_call, response) => {
        if (lost) return "pass";
        lost = true;
        await cluster.setReplicas("checkout", 1);
        response.destroy();
        return "handled";
      };
      waker.wake(request());
      await until(() => scaled.length === 2);
      expect([outcomes(), await cluster.replicas("checkout")]).toEqual([["failed", "awake"], 1]);
    });

    test("also resumes KEDA, after the patch of the scale", async () => {
      await cluster.deployment("checkout", 0);
      await scaledObject();
      waker.wake(request({ autoscaler: keda }));
      await until(() => cluster.calls.length === 2 && scaled.length > 0);
      expect(cluster.calls).toEqual([PATCH, RESUME]);
      await until(() => cluster.answered === 2);
      const { metadata } = await cluster.admin.resource(scaledObjects).get({ namespace: "shop", name: "checkout" });
      expect(metadata.annotations).toMatchObject({
        "autoscaling.keda.sh/paused": "false",
        "autoscaling.keda.sh/force-activation": "true",
      });
    });

    test("waits for no KEDA that is stuck, and resumes it when it is not", async () => {
      await cluster.deployment("checkout", 0);
      await scaledObject();
      cluster.faults.add({ fault: { kind: "hang" }, resource: "scaledobjects", times: 1 });
      waker.wake(request({ autoscaler: keda }));
      await until(() => outcomes().includes("woken"));
      expect(cluster.calls.filter((call) => call === RESUME)).toHaveLength(1);
      await until(() => cluster.calls.filter((call) => call === RESUME).length === 2);
    });

    test("asks nothing of an autoscaler of the type hpa", async () => {
      await cluster.deployment("checkout", 0);
      waker.wake(request({ autoscaler: { type: "hpa", name: "checkout" } }));
      await until(() => scaled.length > 0);
      expect(cluster.calls).toEqual([PATCH]);
    });

    test("of what cannot be a target throws nothing and says why", async () => {
      waker.wake(request({ target: { apiVersion: "../..", kind: "Deployment", name: "checkout" } }));
      await until(() => scaled.length > 0);
      await until(() => cluster.lines.length > 0);
      expect(cluster.lines[0]?.error?.code).toBe(BadTarget.entry.code);
      expect(cluster.calls).toEqual([]);
    });
  });

  describe("on the fake clock", () => {
    let clock: FakeClock;
    beforeEach(async () => {
      clock = new FakeClock();
      await setUp(clock);
    });
    afterEach(tearDown);

    const warned = () => cluster.lines.filter(({ level }) => level === "warn").map(({ error }) => error?.code);

    test("is retried while the API server is down for a minute, and succeeds within five seconds of its return", async () => {
      await cluster.deployment("checkout", 0);
      const back = await cluster.gone();
      waker.wake(request());
      await until(() => clock.monotonic() >= 60_000, clock, 50);
      expect(outcomes()).not.toContain("woken");
      expect(warned()).toContain(kubeErrors.Unreachable.entry.code);
      await back();
      const returned = clock.monotonic();
      await until(() => outcomes().includes("woken"), clock, 2);
      expect(clock.monotonic() - returned).toBeLessThan(5000);
      expect(await cluster.replicas("checkout")).toBe(1);
    });

    test("ends when no request waits", async () => {
      await cluster.deployment("checkout", 0);
      cluster.faults.add({ fault: { kind: "status", code: 503 }, verb: "patch" });
      waker.wake(request());
      await until(() => scaled.length >= 3, clock);
      waiting = false;
      await until(() => clock.pending === 0, clock);
      const { length } = cluster.calls;
      await clock.advance(60_000);
      expect(cluster.calls).toHaveLength(length);
    });

    /** Lets this many tries fail, each five seconds after the last and not a moment before. */
    const failSlowly = async (tries: number): Promise<void> => {
      for (let count = 1; count <= tries; count++) {
        // What is left on the clock is the wait for the next try alone.
        await until(() => scaled.length === count && clock.pending === 1);
        await clock.advance(4999);
        expect([scaled.length, clock.pending]).toEqual([count, 1]);
        await clock.advance(1);
      }
    };

    test("of a workload that does not exist is retried every five seconds, logged once, and succeeds when it exists", async () => {
      waker.wake(request());
      await failSlowly(4);
      await until(() => scaled.length === 5 && clock.pending === 1);
      await cluster.deployment("checkout", 0);
      await clock.advance(5000);
      await until(() => scaled.length === 6);
      expect(outcomes()).toEqual(["failed", "failed", "failed", "failed", "failed", "woken"]);
      expect(warned()).toEqual([TargetNotFound.entry.code]);
    });

    test("that is forbidden is retried slowly and logged once", async () => {
      await cluster.deployment("checkout", 0);
      await cluster.revoke();
      waker.wake(request());
      await failSlowly(3);
      expect(warned()).toEqual([TargetForbidden.entry.code]);
    });

    test("succeeds although KEDA may not be resumed, which is retried slowly and logged", async () => {
      await cluster.deployment("checkout", 0);
      await scaledObject();
      cluster.before = (call, response) => (call === RESUME ? refuse(response, 403, "Forbidden") : "pass");
      const resumes = () => cluster.calls.filter((call) => call === RESUME).length;
      waker.wake(request({ autoscaler: keda }));
      const tried = (tries: number) => resumes() === tries && cluster.answered === cluster.calls.length;
      // On the clock are the rest after the wake and the wait for the next resume; later the wait alone.
      await until(() => tried(1) && outcomes().length === 1 && clock.pending === 2);
      await clock.advance(5000);
      await until(() => tried(2) && clock.pending === 1);
      await clock.advance(5000);
      await until(() => tried(3) && clock.pending === 1);
      expect(outcomes()).toEqual(["woken"]);
      expect(cluster.calls.filter((call) => call === PATCH)).toHaveLength(1);
      const warnings = cluster.lines.filter(({ level }) => level === "warn");
      expect(warnings.map(({ error, msg }) => [error?.code, msg])).toEqual([
        [AutoscalerForbidden.entry.code, expect.stringContaining("resume the autoscaler")],
      ]);
      // The next wake does not wait for it.
      await cluster.setReplicas("checkout", 0);
      waker.wake(request({ autoscaler: keda }));
      await until(() => outcomes().length === 2);
      expect([outcomes(), resumes()]).toEqual([["woken", "woken"], 3]);
    });

    test("is not repeated for requests within a second, unless the workload sleeps again", async () => {
      await cluster.deployment("checkout", 0);
      waker.wake(request());
      await until(() => outcomes().includes("woken"));
      await clock.advance(500);
      for (let count = 0; count < 100; count++) waker.wake(request());
      await cluster.setReplicas("checkout", 0);
      expect(cluster.calls).toEqual([PATCH]);
      await clock.advance(500);
      await until(() => scaled.length === 2);
      expect([outcomes(), cluster.calls]).toEqual([
        ["woken", "woken"],
        [PATCH, READ, PATCH],
      ]);
    });

    test("is one write, however long its pods take to start and however many requests arrive meanwhile", async () => {
      await cluster.deployment("checkout", 0);
      const end = clock.monotonic() + 30_000;
      const asking = () => {
        waker.wake(request());
        return clock.monotonic() >= end;
      };
      await until(asking, clock, 100);
      await until(() => cluster.answered === cluster.calls.length);
      expect(cluster.calls.filter((call) => call === READ).length).toBeGreaterThan(1);
      expect(cluster.calls.filter((call) => call !== READ)).toEqual([PATCH]);
    });

    test("is not repeated without a request", async () => {
      await cluster.deployment("checkout", 0);
      waker.wake(request());
      await until(() => outcomes().includes("woken"));
      await cluster.setReplicas("checkout", 0);
      await clock.advance(60_000);
      expect(cluster.calls).toEqual([PATCH]);
    });

    test("ends with the process", async () => {
      cluster.faults.add({ fault: { kind: "status", code: 503 }, verb: "patch" });
      waker.wake(request());
      await until(() => scaled.length > 0);
      waker.stop();
      waker.wake(request({}, "shop/cart"));
      await clock.advance(60_000);
      expect([outcomes(), clock.pending]).toEqual([["failed"], 0]);
    });
  });
});

function refuse(response: ServerResponse, code: number, reason: string): "handled" {
  const status = {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: "refused",
    reason,
    code,
  };
  response.writeHead(code, { "content-type": "application/json" }).end(JSON.stringify(status));
  return "handled";
}
