import { describe, expect, test } from "@jest/globals";
import { deployments as deploymentType, statefulSets } from "@evenkeel/kube";
import { Cluster } from "../../test/cluster.ts";
import { listWorkloads, workloadOf, workloadsOf } from "./workload-of.ts";

const object = (name: string, app: string) => ({
  metadata: { namespace: "default", name },
  spec: {
    selector: { matchLabels: { app } },
    template: { metadata: { labels: { app, tier: "front" } }, spec: { containers: [{ name: "c" }] } },
  },
});
const set = (name: string, app: string) => ({ ...object(name, app), spec: { ...object(name, app).spec } });
const deployment = { apiVersion: "apps/v1", kind: "Deployment" };
const rollout = { apiVersion: "argoproj.io/v1alpha1", kind: "Rollout" };

describe("the workload behind a Service", () => {
  const workloads = workloadsOf(
    [object("web", "web"), object("blue", "shop"), object("borrowed", "cart")],
    [set("db", "db")],
    [
      { metadata: { name: "green" }, spec: { template: { metadata: { labels: { app: "shop" } } } } },
      { metadata: { name: "cart" }, spec: { workloadRef: { kind: "Deployment", name: "borrowed" } } },
    ],
  );

  test("is the one with pods that its selector matches, also with a part of their labels", () => {
    expect(workloadOf({ app: "web" }, workloads)).toEqual({ target: { ...deployment, name: "web" } });
    expect(workloadOf({ app: "db", tier: "front" }, workloads)).toEqual({
      target: { apiVersion: "apps/v1", kind: "StatefulSet", name: "db" },
    });
  });

  test("is the Rollout that runs a Deployment's pods in its own name", () => {
    expect(workloadOf({ app: "cart" }, workloads)).toEqual({ target: { ...rollout, name: "cart" } });
  });

  test.each([
    ["no selector", undefined, /no selector/],
    ["an empty selector", {}, /no selector/],
    ["a selector that nothing fits", { app: "gone" }, /no Deployment, StatefulSet or Rollout/],
    ["a selector that two fit", { app: "shop" }, /Deployment blue, Rollout green/],
  ])("is not known with %s", (_name, selector, why) => {
    expect(workloadOf(selector, workloads)).toEqual({ why: expect.stringMatching(why) });
  });

  test("is named with few of many", () => {
    const many = workloadsOf(
      [1, 2, 3, 4, 5].map((n) => object(`web-${n}`, "web")),
      [],
      [],
    );
    expect(workloadOf({ app: "web" }, many)).toMatchObject({
      why: expect.stringMatching(/Deployment web-3, 2 more$/),
    });
  });
});

describe("the workloads of a namespace", () => {
  test("are listed with and without Argo Rollouts", async () => {
    await using cluster = await Cluster.start();
    await cluster.kube.resource(deploymentType).create(object("web", "web"));
    await cluster.kube.resource(statefulSets).create(set("db", "db"));
    cluster.calls.length = 0;
    expect((await listWorkloads(cluster.kube, "default")).map(({ target }) => target.name)).toEqual(["web", "db"]);
    expect(cluster.calls).toEqual([
      "GET /apis/apps/v1/namespaces/default/deployments",
      "GET /apis/apps/v1/namespaces/default/statefulsets",
      "GET /apis/argoproj.io/v1alpha1/namespaces/default/rollouts",
    ]);
    expect(await listWorkloads(cluster.kube, "kube-system")).toEqual([]);
  });

  test("are not taken for none while the API server fails", async () => {
    await using cluster = await Cluster.start();
    cluster.faults.add({ resource: "statefulsets", fault: { kind: "status", code: 500 } });
    await expect(listWorkloads(cluster.kube, "default", { deadline: 500 })).rejects.toMatchObject({
      recovery: "retryable",
    });
  });
});
