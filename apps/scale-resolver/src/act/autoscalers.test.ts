import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { type KubeObject, kubeErrors, type ResourceTypeOf } from "@evenkeel/kube";
import type { CodedError } from "@evenkeel/runtime";
import { ScaleCluster } from "../../test/scale-cluster.ts";
import { Autoscalers } from "./autoscalers.ts";
import { AutoscalerForbidden } from "./errors.ts";

const scaledObjects: ResourceTypeOf<KubeObject> = {
  ...{ group: "keda.sh", version: "v1alpha1", kind: "ScaledObject", plural: "scaledobjects", namespaced: true },
};
const keda = { type: "keda", name: "checkout" } as const;

describe("the autoscaler of a workload that sleeps", () => {
  let cluster: ScaleCluster;
  let autoscalers: Autoscalers;

  beforeEach(async () => {
    cluster = new ScaleCluster();
    await cluster.start();
    autoscalers = new Autoscalers(cluster.kube);
  });
  afterEach(() => cluster.stop());

  const create = async (annotations: Record<string, string>): Promise<void> => {
    await cluster.define("keda.sh", "v1alpha1", "ScaledObject", "scaledobjects", false);
    await cluster.admin
      .resource(scaledObjects)
      .create({ metadata: { namespace: "shop", name: "checkout", annotations } });
  };

  const annotations = async (): Promise<unknown> => {
    const { metadata } = await cluster.admin.resource(scaledObjects).get({ namespace: "shop", name: "checkout" });
    return metadata.annotations;
  };

  const codeOf = (call: Promise<unknown>): Promise<string> =>
    call.then(
      (value) => `no error but ${String(value)}`,
      (error: unknown) => (error as CodedError).code,
    );

  test("of KEDA is paused and scales nothing itself, and what else is noted on it stays", async () => {
    await create({ team: "shop", "autoscaling.keda.sh/paused-replicas": "0" });
    expect(await autoscalers.pause("shop", keda)).toBe("paused");
    expect(await annotations()).toEqual({ team: "shop", "autoscaling.keda.sh/paused": "true" });
  });

  test("of KEDA is kept from scaling to zero after a wake, until it is calmed", async () => {
    await create({ team: "shop", "autoscaling.keda.sh/paused": "true" });
    expect(await autoscalers.resume("shop", keda, { active: true })).toBe("resumed");
    expect(await annotations()).toMatchObject({
      "autoscaling.keda.sh/paused": "false",
      "autoscaling.keda.sh/force-activation": "true",
    });
    for (let times = 0; times < 2; times++) {
      await autoscalers.allowZero("shop", keda);
      expect(await annotations()).toEqual({ team: "shop", "autoscaling.keda.sh/paused": "false" });
    }
  });

  test("of KEDA that another client keeps active stays active", async () => {
    await create({ "autoscaling.keda.sh/force-activation": "true" });
    await autoscalers.allowZero("shop", keda);
    expect(await annotations()).toEqual({ "autoscaling.keda.sh/force-activation": "true" });
    await autoscalers.allowZero("shop", { ...keda, name: "another" });
  });

  test("of KEDA resumes with the original's annotations", async () => {
    await create({ "autoscaling.keda.sh/paused": "true", "autoscaling.keda.sh/paused-replicas": "0", team: "shop" });
    expect(await autoscalers.resume("shop", keda)).toBe("resumed");
    expect(await annotations()).toEqual({ team: "shop", "autoscaling.keda.sh/paused": "false" });
  });

  test("of KEDA may be paused and resumed twice", async () => {
    await create({});
    expect(await autoscalers.resume("shop", keda)).toBe("resumed");
    expect(await autoscalers.pause("shop", keda)).toBe("paused");
    expect(await autoscalers.pause("shop", keda)).toBe("paused");
    expect(await autoscalers.resume("shop", keda)).toBe("resumed");
    expect(await autoscalers.resume("shop", keda)).toBe("resumed");
    expect(await annotations()).toEqual({ "autoscaling.keda.sh/paused": "false" });
  });

  test("is absent if it does not exist, or KEDA is not installed", async () => {
    expect(await autoscalers.pause("shop", keda)).toBe("absent");
    expect(await autoscalers.resume("shop", keda)).toBe("absent");
    await create({});
    expect(await autoscalers.pause("shop", { ...keda, name: "another" })).toBe("absent");
    expect(await autoscalers.resume("shop", { ...keda, name: "another" })).toBe("absent");
  });

  test("of the type hpa is left alone", async () => {
    const hpa = { type: "hpa", name: "checkout" } as const;
    expect(await autoscalers.pause("shop", hpa)).toBe("unneeded");
    expect(await autoscalers.resume("shop", hpa)).toBe("unneeded");
    expect(cluster.calls).toEqual([]);
  });

  test("that this service may not touch is an error that says so", async () => {
    await create({});
    await cluster.revoke();
    expect(await codeOf(autoscalers.pause("shop", keda))).toBe(AutoscalerForbidden.entry.code);
    expect(await codeOf(autoscalers.resume("shop", keda))).toBe(AutoscalerForbidden.entry.code);
  });

  test("is paused through a server that fails at first", async () => {
    await create({});
    cluster.faults.add({ fault: { kind: "status", code: 503 }, verb: "patch", times: 1 });
    cluster.faults.add({ fault: { kind: "reset" }, verb: "patch", times: 1 });
    expect(await autoscalers.pause("shop", keda)).toBe("paused");
    cluster.faults.add({ fault: { kind: "hang" }, verb: "patch", times: 1 });
    expect(await codeOf(autoscalers.resume("shop", keda, { deadline: 100 }))).toBe(kubeErrors.Timeout.entry.code);
  });
});
