import { describe, expect, test } from "@jest/globals";
import * as kube from "@evenkeel/kube";
import { eventually } from "@evenkeel/runtime/testing";
import { CollectedGroups } from "../../../test/collected-groups.ts";
import { blocksOf, DiscoveryWorld, tiringClock } from "../../../test/discovery-world.ts";
import { startDiscovery } from "../discovery/start-discovery.ts";

function discover(world: DiscoveryWorld, ...configs: readonly object[]) {
  return blocksOf({ kubernetes_sd_configs: configs }).map((block) => {
    const sink = new CollectedGroups();
    const discovery = startDiscovery(block, sink, world.parts);
    return { sink, stop: () => discovery.stop() };
  });
}

const only = <T>([first]: readonly T[]): T => {
  if (first === undefined) throw new Error("nothing was started");
  return first;
};

/** Values of one label in all groups and targets. */
function valuesOf(sink: CollectedGroups, name: string): readonly string[] {
  const label = `__meta_kubernetes_${name}`;
  const sets = [...sink.groups.values()].flatMap(({ labels, targets }) =>
    targets.map((each) => [labels, each] as const),
  );
  return sets.flatMap(([labels, target]) => target.get(label) ?? labels.get(label) ?? []);
}

const annotate = (world: DiscoveryWorld, type: kube.ResourceTypeOf<kube.KubeObject>, name: string, value: string) =>
  world.kube
    .resource(type)
    .patch(
      { name, ...(type.namespaced && { namespace: "default" }) },
      { type: "merge", body: { metadata: { annotations: { seen: value } } } },
    );

const owner = (kind: string, name: string) => ({ apiVersion: "v1", kind, name, uid: "u-1", controller: true });
const template = { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "app" }] } };

describe("discovery in Kubernetes", () => {
  test("opens one watch for each type, namespace and selector, however many blocks there are", async () => {
    await using world = await DiscoveryWorld.start();
    const configs = [
      { role: "endpointslice", attach_metadata: { node: true } },
      { role: "endpoints" },
      { role: "pod" },
      { role: "pod", namespaces: { names: ["shop", "billing"] } },
      { role: "pod", selectors: [{ role: "pod", label: "app=web" }] },
    ];
    const many = Array.from({ length: 200 }, () => configs).flat();
    const started = discover(world, ...many);
    await eventually(() => expect(started.every(({ sink }) => sink.last?.answered === true)).toBe(true));
    const expected = [
      "/api/v1/endpoints",
      "/api/v1/namespaces/billing/pods",
      "/api/v1/namespaces/shop/pods",
      "/api/v1/nodes",
      "/api/v1/pods",
      "/api/v1/pods",
      "/api/v1/services",
      "/apis/discovery.k8s.io/v1/endpointslices",
    ];
    expect(world.watches.toSorted()).toEqual(expected);
    expect(world.feeds.watches).toBe(expected.length);
    for (const { stop } of started.slice(1)) stop();
    expect(world.feeds.watches).toBe(4);
    started[0]?.stop();
    expect(world.feeds.watches).toBe(0);
  });

  test("answers with no targets where there are no objects", async () => {
    await using world = await DiscoveryWorld.start();
    const { sink, stop } = only(discover(world, { role: "ingress" }));
    await eventually(() => expect(sink.last).toMatchObject({ answered: true }));
    expect(sink.groups.size).toBe(0);
    stop();
  });

  test("follows namespaces by name, and selectors", async () => {
    await using world = await DiscoveryWorld.start();
    world.api.load("{apiVersion: v1, kind: Namespace, metadata: {name: shop}}");
    await world.addPod("a", { ip: "10.0.0.1", labels: { app: "web" } });
    await world.addPod("b", { ip: "10.0.0.2", namespace: "shop" });
    await world.addPod("c", { ip: "10.0.0.3", namespace: "kube-system" });
    const [named, selected, fields] = discover(
      world,
      { role: "pod", namespaces: { names: ["shop", "kube-system"] } },
      { role: "pod", selectors: [{ role: "pod", label: "app=web" }] },
      { role: "pod", selectors: [{ role: "pod", field: "metadata.name=b" }] },
    );
    await eventually(() => expect(named?.sink.addresses).toEqual(["10.0.0.2:80", "10.0.0.3:80"]));
    await eventually(() => expect(selected?.sink.addresses).toEqual(["10.0.0.1:80"]));
    await eventually(() => expect(fields?.sink.addresses).toEqual(["10.0.0.2:80"]));
    for (const each of [named, selected, fields]) each?.stop();
  });

  test("updates the groups of a Service, a pod, a node, a namespace, a ReplicaSet or a Job that changes", async () => {
    await using world = await DiscoveryWorld.start();
    world.api.load("{apiVersion: v1, kind: Node, metadata: {name: node-a}}");
    world.api.load("{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {ports: [{port: 80}]}}");
    await world.addPod("web-0", { owner: owner("ReplicaSet", "web-1") });
    await world.addPod("job-0", { ip: "10.0.0.2", owner: owner("Job", "night-1") });
    const endpoint = (name: string, ip: string) => ({
      addresses: [ip],
      nodeName: "node-a",
      targetRef: { kind: "Pod", namespace: "default", name },
    });
    const endpoints = [endpoint("web-0", "10.0.0.1"), endpoint("job-0", "10.0.0.2")];
    const slice = {
      metadata: { namespace: "default", name: "web-a", labels: { "kubernetes.io/service-name": "web" } },
    };
    await world.kube
      .resource(kube.endpointSlices)
      .create({ ...slice, addressType: "IPv4", ports: [{ port: 80 }], endpoints });
    const { sink, stop } = only(
      discover(world, {
        role: "endpointslice",
        attach_metadata: { node: true, namespace: true, deployment: true, job: true, cronjob: true },
      }),
    );
    await eventually(() => expect(sink.addresses).toEqual(["10.0.0.1:80", "10.0.0.2:80"]));
    expect(valuesOf(sink, "pod_job_name")).toEqual(["night-1"]);
    const changes = [
      [kube.services, "web", "service"],
      [kube.pods, "web-0", "pod"],
      [kube.nodes, "node-a", "node"],
      [kube.namespaces, "default", "namespace"],
    ] as const;
    for (const [type, name, kind] of changes) {
      await annotate(world, type, name, kind);
      await eventually(() => expect(valuesOf(sink, `${kind}_annotation_seen`)).toContain(kind));
    }
    const metadata = (name: string, kind: string, by: string) => ({
      name,
      namespace: "default",
      ownerReferences: [owner(kind, by)],
    });
    const spec = { selector: { matchLabels: { a: "b" } }, template };
    await world.kube.resource(kube.replicaSets).create({ metadata: metadata("web-1", "Deployment", "web"), spec });
    await eventually(() => expect(valuesOf(sink, "pod_deployment_name")).toEqual(["web"]));
    await world.kube
      .resource(kube.jobs)
      .create({ metadata: metadata("night-1", "CronJob", "night"), spec: { template } });
    await eventually(() => expect(valuesOf(sink, "pod_cronjob_name")).toEqual(["night"]));
    await world.kube.resource(kube.services).delete({ namespace: "default", name: "web" });
    await eventually(() => expect(valuesOf(sink, "service_name")).toEqual([]));
    stop();
  });

  test("keeps its targets while the API server is away, says since when, and catches up", async () => {
    await using world = await DiscoveryWorld.start();
    await world.addPod("a", { ip: "10.0.0.1" });
    const { sink, stop } = only(discover(world, { role: "pod" }));
    await eventually(() => expect(sink.addresses).toEqual(["10.0.0.1:80"]));
    const back = world.faults.add({ fault: { kind: "reset" }, resource: "pods", verb: "watch" });
    world.breakWatches();
    await eventually(() => expect(sink.last?.fault).toEqual(expect.any(String)));
    expect(sink.last).toMatchObject({ answered: true, goodAt: expect.any(Number) });
    await world.addPod("b", { ip: "10.0.0.2" });
    expect(sink.addresses).toEqual(["10.0.0.1:80"]);
    back();
    await eventually(() => expect(sink.addresses).toEqual(["10.0.0.1:80", "10.0.0.2:80"]));
    expect(sink.last?.fault).toBeUndefined();
    stop();
  });

  test("leaves out an object that it cannot read, names it, and goes on with the others", async () => {
    await using world = await DiscoveryWorld.start();
    const metadata = (name: string) => ({ namespace: "default", name });
    const slice = (name: string, endpoints: unknown) =>
      world.api.load(
        JSON.stringify({
          ...{ apiVersion: "discovery.k8s.io/v1", kind: "EndpointSlice", metadata: metadata(name) },
          ...{ addressType: "IPv4", ports: [{ port: 80 }], endpoints },
        }),
      );
    slice("bad", [{}]);
    slice("good", [{ addresses: ["10.0.0.1"] }]);
    const { sink, stop } = only(discover(world, { role: "endpointslice" }));
    await eventually(() => expect(sink.addresses).toEqual(["10.0.0.1:80"]));
    await eventually(() => expect(sink.last?.fault).toContain("endpointslice/default/bad"));
    await world.kube.resource(kube.endpointSlices).delete(metadata("bad"));
    await eventually(() => expect(sink.last).toMatchObject({ answered: true }));
    await eventually(() => expect(sink.last?.fault).toBeUndefined());
    stop();
  });

  test("has not answered while the API server refuses one of its types", async () => {
    await using world = await DiscoveryWorld.start();
    const back = world.faults.add({ fault: { kind: "status", code: 503 }, resource: "services" });
    const { sink, stop } = only(discover(world, { role: "endpointslice" }));
    await eventually(() => expect(sink.last).toMatchObject({ answered: false, fault: expect.any(String) }));
    back();
    await eventually(() => expect(sink.last).toMatchObject({ answered: true }));
    stop();
  });

  test("has not answered while its first groups are still being made", async () => {
    await using world = await DiscoveryWorld.start();
    for (const index of [1, 2, 3]) await world.addPod(`p-${index}`, { ip: `10.0.0.${index}` });
    let tellFault: () => void = () => undefined;
    const feeds = {
      follow: (...[type, where, onFault]: Parameters<typeof world.feeds.follow>) => {
        tellFault = onFault;
        return world.feeds.follow(type, where, onFault);
      },
    } as typeof world.feeds;
    const [block] = blocksOf({ kubernetes_sd_configs: [{ role: "pod" }] });
    if (block === undefined) throw new Error("the configuration has no block");
    const groups: number[] = [];
    let made = 0;
    const sink = {
      update: (changed: readonly unknown[]) => {
        made += changed.length;
        tellFault();
      },
      health: ({ answered }: { answered: boolean }) => {
        if (answered) groups.push(made);
      },
    };
    const discovery = startDiscovery(block, sink, { ...world.parts, feeds, clock: tiringClock() });
    await eventually(() => expect(groups).toEqual([3]));
    discovery.stop();
  });
});
