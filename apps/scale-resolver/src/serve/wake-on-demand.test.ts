import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { clusterRoles } from "@evenkeel/kube";
import { ScaleCluster } from "../../test/scale-cluster.ts";
import { Autoscalers } from "../act/autoscalers.ts";
import { AutoscalerForbidden, TargetForbidden } from "../act/errors.ts";
import { Scales } from "../act/scales.ts";
import { wakeOnDemand } from "./wake-on-demand.ts";

const binding = {
  namespace: "shop",
  target: { apiVersion: "apps/v1", kind: "Deployment", name: "checkout" },
  minReplicas: 2,
  autoscaler: { type: "keda", name: "checkout" },
} as const;

describe("a wake on demand", () => {
  let cluster: ScaleCluster;
  let changes: string[];

  beforeEach(async () => {
    cluster = new ScaleCluster();
    await cluster.start();
    await cluster.deployment("checkout", 0);
    changes = [];
  });
  afterEach(() => cluster.stop());

  const wake = (service: string) =>
    wakeOnDemand({
      binding: (key) => (key === "shop/checkout" ? binding : undefined),
      ...{ scales: new Scales(cluster.kube), autoscalers: new Autoscalers(cluster.kube), log: cluster.log },
      changed: (key) => changes.push(key),
    })("shop", service, "a fair opens");

  test("scales the workload up, once", async () => {
    expect([await wake("checkout"), await wake("checkout")]).toEqual([true, false]);
    expect(await cluster.replicas("checkout")).toBe(2);
    expect(changes).toEqual(["shop/checkout", "shop/checkout"]);
  });

  test("is done though the autoscaler may not be touched, which the log says", async () => {
    const rules = [{ apiGroups: ["apps"], resources: ["deployments/scale"], verbs: ["get", "patch"] }];
    await cluster.admin.resource(clusterRoles).patch({ name: "resolver" }, { type: "merge", body: { rules } });
    await cluster.define("keda.sh", "v1alpha1", "ScaledObject", "scaledobjects", false);
    expect(await wake("checkout")).toBe(true);
    expect(await cluster.replicas("checkout")).toBe(2);
    expect(changes).toEqual(["shop/checkout"]);
    expect(cluster.lines).toContainEqual(
      expect.objectContaining({ error: expect.objectContaining({ code: AutoscalerForbidden.entry.code }) }),
    );
  });

  test("that fails is an error, and the service is looked at all the same", async () => {
    await cluster.revoke();
    await expect(wake("checkout")).rejects.toMatchObject({ code: TargetForbidden.entry.code });
    expect(changes).toEqual(["shop/checkout"]);
  });

  test("does nothing for a Service that is not managed", async () => {
    expect(await wake("payments")).toBe(false);
    expect([cluster.calls, changes]).toEqual([[], []]);
  });
});
