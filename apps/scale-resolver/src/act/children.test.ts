import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { type ElastiService, parseElastiService } from "@evenkeel/api";
import { addFinalizer, type Resource, type Service, services } from "@evenkeel/kube";
import { Cluster } from "../../test/cluster.ts";
import { elastiServices, FINALIZER, type StoredElastiService } from "../elasti-service-resource.ts";
import { Selections } from "./children.ts";

const WORLD = ["web", "api", "shop"]
  .map(
    (name) => `
apiVersion: v1
kind: Service
metadata: { name: ${name}, labels: { sleep: "${name === "shop" ? "no" : "yes"}" } }
spec: { selector: { app: ${name} }, clusterIP: 10.96.0.1, ports: [{ port: 80 }] }
---
apiVersion: apps/v1
kind: Deployment
metadata: { name: ${name} }
spec:
  selector: { matchLabels: { app: ${name} } }
  template: { metadata: { labels: { app: ${name} } }, spec: { containers: [{ name: c, image: i }] } }
`,
  )
  .join("---");

const { signal } = new AbortController();

describe("the Services that an ElastiService selects", () => {
  let cluster: Cluster;
  let resource: Resource<StoredElastiService>;
  let objects: readonly StoredElastiService[];
  let seen: readonly Service[];
  let selections: Selections;

  beforeEach(async () => {
    cluster = await Cluster.start({ manifests: WORLD });
    resource = cluster.kube.resource(elastiServices);
    const whenSynced = () => Promise.resolve();
    selections = new Selections({
      kube: cluster.kube,
      store: { values: () => objects.values(), whenSynced },
      services: { values: () => seen.values(), whenSynced },
    });
    await resource.create({
      metadata: { namespace: "default", name: "all" },
      spec: { selector: { matchLabels: { sleep: "yes" } }, cooldownPeriod: 60 },
    });
    await look();
  });
  afterEach(() => cluster[Symbol.asyncDispose]());

  const look = async (): Promise<void> => {
    objects = (await resource.list({ namespace: "default" })).items;
    seen = (await cluster.kube.resource(services).list()).items;
    cluster.calls.length = 0;
  };
  const parent = (): ElastiService => {
    const parsed = parseElastiService(objects.find(({ metadata }) => metadata.name === "all"));
    if (!parsed.ok) throw new Error(parsed.errors.join());
    return parsed.value;
  };
  const sync = async () => {
    const result = await selections.sync(parent(), { signal });
    const writes = cluster.writes().map((call) => call.replace("/apis/elasti.truefoundry.com/v1alpha1", ""));
    await look();
    return { ...result, writes };
  };
  const patch = (name: string, body: object) => resource.patch({ namespace: "default", name }, { type: "merge", body });
  const names = () => objects.map(({ metadata }) => metadata.name).sort();
  const PATH = "/namespaces/default/elastiservices";

  test("each get an ElastiService of their own, once", async () => {
    expect(await sync()).toEqual({ selected: 2, left: [], writes: [`POST ${PATH}`, `POST ${PATH}`] });
    expect(names()).toEqual(["all", "all-api", "all-web"]);
    expect(objects.find(({ metadata }) => metadata.name === "all-web")).toMatchObject({
      metadata: { labels: { "evenkeel.io/selected-by": "all" }, ownerReferences: [{ name: "all", controller: true }] },
      spec: { service: "web", scaleTargetRef: { kind: "Deployment", name: "web" }, cooldownPeriod: 60 },
    });
    expect(await sync()).toEqual({ selected: 2, left: [], writes: [] });
  });

  test("follow a change of the parent, and keep what else is on their ElastiServices", async () => {
    await sync();
    await patch("all-web", { metadata: { labels: { team: "a" }, annotations: { "evenkeel.io/paused": "true" } } });
    await patch("all", { spec: { cooldownPeriod: 600, quietPeriod: 7 } });
    await look();
    expect((await sync()).writes.sort()).toEqual([`PATCH ${PATH}/all-api`, `PATCH ${PATH}/all-web`]);
    expect(objects.find(({ metadata }) => metadata.name === "all-web")).toMatchObject({
      metadata: {
        ...{ labels: { team: "a", "evenkeel.io/selected-by": "all" }, annotations: { "evenkeel.io/paused": "true" } },
      },
      spec: { service: "web", cooldownPeriod: 600, quietPeriod: 7 },
    });
    await patch("all", { spec: { quietPeriod: null } });
    await look();
    await sync();
    expect(objects.find(({ metadata }) => metadata.name === "all-web")?.spec).not.toHaveProperty("quietPeriod");
  });

  test("lose theirs when they are no longer selected, after its finalizer is removed", async () => {
    await sync();
    const web = objects.find(({ metadata }) => metadata.name === "all-web");
    if (web) await addFinalizer(resource, web, FINALIZER);
    const body = { metadata: { labels: { sleep: "no" } } };
    for (const name of ["web", "api"])
      await cluster.kube.resource(services).patch({ namespace: "default", name }, { type: "merge", body });
    await look();
    expect((await sync()).selected).toBe(0);
    expect(names()).toEqual(["all", "all-web"]);
    expect(await sync()).toMatchObject({ selected: 0, writes: [] });
  });

  test("lose theirs with the parent", async () => {
    await sync();
    await resource.delete({ namespace: "default", name: "all" });
    while (names().length > 0) await look();
    expect(names()).toEqual([]);
  });

  test("stay as they are while the parent is paused", async () => {
    await patch("all", { metadata: { annotations: { "evenkeel.io/paused": "true" } } });
    await look();
    expect(await sync()).toMatchObject({ writes: [] });
  });

  test("stay as they are when the selector cannot be understood", async () => {
    await sync();
    await patch("all", { spec: { selector: { matchExpressions: [{ key: "sleep", operator: "Like" }] } } });
    await look();
    await expect(selections.sync(parent(), { signal })).rejects.toMatchObject({ code: "EK_RESOLVER_BAD_SELECTOR" });
    expect(cluster.writes()).toEqual([]);
  });

  test("stay as they are while their workloads cannot be listed", async () => {
    await sync();
    cluster.faults.add({ resource: "deployments", fault: { kind: "reset" } });
    const impatient = AbortSignal.timeout(300);
    await expect(selections.sync(parent(), { signal: impatient })).rejects.toThrow();
    expect(cluster.writes()).toEqual([]);
  });

  test("are not taken for left out when theirs was made a moment ago and not seen yet", async () => {
    await selections.sync(parent(), { signal });
    expect(await selections.sync(parent(), { signal })).toEqual({ selected: 2, left: [] });
  });

  test("are retried where the API server fails, and go on from there", async () => {
    const takeBack = cluster.faults.add({ verb: "create", resource: "elastiservices", fault: { kind: "reset" } });
    await expect(selections.sync(parent(), { signal: AbortSignal.timeout(300) })).rejects.toThrow();
    takeBack();
    await look();
    expect((await sync()).selected).toBe(2);
    expect(names()).toEqual(["all", "all-api", "all-web"]);
  });
});
