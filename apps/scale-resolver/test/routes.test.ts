import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type KubeObject, type ResourceTypeOf } from "@evenkeel/kube";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { elastiServices } from "../src/elasti-service-resource.ts";
import { takeTurns } from "./turns.ts";
import { ask, eventually, World } from "./world.ts";

interface Route extends KubeObject {
  readonly spec?: Readonly<Record<string, unknown>>;
}

const GATEWAY = "gateway.networking.k8s.io";
const virtualServices: ResourceTypeOf<Route> = {
  ...{
    group: "networking.istio.io",
    version: "v1",
    kind: "VirtualService",
    plural: "virtualservices",
    namespaced: true,
  },
};
const httpRoutes: ResourceTypeOf<Route> = {
  ...{ group: GATEWAY, version: "v1", kind: "HTTPRoute", plural: "httproutes", namespaced: true },
};
const grants: ResourceTypeOf<Route> = {
  ...{ group: GATEWAY, version: "v1beta1", kind: "ReferenceGrant", plural: "referencegrants", namespaced: true },
};

const shop = { namespace: "default", name: "shop" };
const SWITCHED = "evenkeel.io/switched";
/** The resolver's namespace here, which is not the routes'. */
const HOME = "evenkeel-system";
const AWAY = { host: `scale-resolver.${HOME}.svc.cluster.local`, port: { number: 8012 } };

let world: World;
beforeEach(async () => {
  world = await World.start({ number: 28 });
  for (const name of ["virtualservices", "gateway-api"]) {
    world.api.load(await readFile(join(import.meta.dirname, `fixtures/${name}.yaml`), "utf8"));
  }
  world.api.load(JSON.stringify({ apiVersion: "v1", kind: "Namespace", metadata: { name: HOME } }));
  await eventually(async () => {
    for (const type of [virtualServices, httpRoutes, grants]) expect(await world.kube.serves(type)).toBe(true);
  });
  await world.workload("shop");
});
afterEach(async () => {
  await world[Symbol.asyncDispose]();
});

/** The resolver, with a Service of its own of which it is the one replica that is ready. */
async function serve(more: readonly string[] = []) {
  world.api.load(
    JSON.stringify({
      apiVersion: "discovery.k8s.io/v1",
      kind: "EndpointSlice",
      metadata: { namespace: HOME, name: "own", labels: { "kubernetes.io/service-name": "scale-resolver" } },
      addressType: "IPv4",
      endpoints: [{ addresses: ["127.0.0.1"], conditions: { ready: true }, targetRef: { kind: "Pod", name: "a" } }],
      ports: [],
    }),
  );
  const flags = [`--lease-namespace=${HOME}`, "--resolver-service=scale-resolver", "--pod-name=a", ...more];
  const service = world.serve(flags);
  const { ports } = (await service.phase("ready")) as { ports: Record<string, number> };
  return { host: "127.0.0.1", port: ports["requests"] ?? 0 };
}

function virtualService(name = "shop") {
  const spec = {
    hosts: ["shop.example.com"],
    gateways: ["mesh", "edge"],
    http: [
      {
        match: [{ uri: { prefix: "/" } }],
        timeout: "3s",
        route: [
          { destination: { host: "shop", subset: "v1", port: { number: 8080 } }, weight: 90 },
          { destination: { host: "other" }, weight: 10 },
        ],
      },
    ],
  };
  return { apiVersion: "networking.istio.io/v1", kind: "VirtualService", metadata: { ...shop, name }, spec };
}

function httpRoute() {
  const spec = { hostnames: ["shop.example.com"], rules: [{ backendRefs: [{ name: "shop", port: 8080 }] }] };
  return { apiVersion: `${GATEWAY}/v1`, kind: "HTTPRoute", metadata: shop, spec };
}

const grant = {
  ...{ apiVersion: `${GATEWAY}/v1beta1`, kind: "ReferenceGrant", metadata: { namespace: HOME, name: "routes" } },
  spec: { from: [{ group: GATEWAY, kind: "HTTPRoute", namespace: "default" }], to: [{ group: "", kind: "Service" }] },
};

const destinations = (route: Route) => {
  const [rule] = route.spec?.["http"] as { route: { destination: unknown; headers?: unknown }[] }[];
  return rule?.route.map(({ destination }) => destination);
};

async function isSwitched(name = "shop") {
  return eventually(async () => {
    const route = await world.kube.resource(virtualServices).get({ ...shop, name });
    expect(destinations(route)?.[0]).toEqual(AWAY);
    return route;
  }, 8000);
}

async function isBack(type: ResourceTypeOf<Route>, spec: unknown, name = "shop") {
  await eventually(async () => {
    const route = await world.kube.resource(type).get({ ...shop, name });
    expect(route.spec).toEqual(spec);
    expect(route.metadata.annotations?.[SWITCHED]).toBeUndefined();
  });
}

test("a VirtualService leads to the resolver during sleep, also for who asks it by that way, and back after a wake", async () => {
  const place = await serve();
  const made = await world.kube.resource(virtualServices).create(virtualService());
  world.metric = 0;
  await world.elasti("shop", { switch: { type: "virtualService", name: "shop" } });
  await world.inState("shop", "Zero");
  const route = await isSwitched();
  const [rule] = route.spec?.["http"] as { readonly route: readonly unknown[] }[];
  expect(rule).toMatchObject({ match: [{ uri: { prefix: "/" } }], timeout: "3s" });
  expect(rule?.route).toEqual([
    {
      destination: AWAY,
      weight: 90,
      headers: { request: { set: { "x-evenkeel-service": "shop.default:8080" } } },
    },
    { destination: { host: "other" }, weight: 10 },
  ]);
  await world.sleeps("shop");

  // As a mesh would send it now: to the port for all Services, under the host that its client asked for.
  const headers = { host: "shop.example.com", "x-evenkeel-service": "shop.default:8080" };
  const answer = await ask(place, { path: "/by-mesh", headers });
  expect(answer.status).toBe(200);
  expect(answer.body).toContain("/by-mesh");
  world.metric = 5;
  await world.inState("shop", "Serve");
  await isBack(virtualServices, made.spec);
});

test.each([
  { type: "virtualService", kind: virtualServices, made: virtualService() },
  { type: "httpRoute", kind: httpRoutes, made: httpRoute() },
])("turns that find its $kind.kind switched neither put it back nor write it again", async ({ type, kind, made }) => {
  await serve();
  await world.kube.resource(grants).create(grant);
  await world.kube.resource(kind).create(made);
  world.metric = 0;
  await world.elasti("shop", { switch: { type, name: "shop" } });
  await world.sleeps("shop");
  const before = await world.kube.resource(kind).get(shop);
  expect(before.metadata.annotations).toHaveProperty([SWITCHED]);
  await takeTurns(world, "shop");
  // Put back and switched again it would have another version.
  expect(await world.kube.resource(kind).get(shop)).toEqual(before);
});

test("a manifest that is applied again in the midst of sleep is switched again, and nothing is lost meanwhile", async () => {
  await serve();
  const resource = world.kube.resource(virtualServices);
  const apply = (timeout: string) => {
    const { spec, ...rest } = virtualService();
    const http = spec.http.map((rule) => ({ ...rule, timeout }));
    return resource.apply({ ...rest, spec: { ...spec, http } }, { fieldManager: "argocd", force: true });
  };
  await apply("3s");
  world.metric = 0;
  await world.elasti("shop", { switch: { type: "virtualService", name: "shop" } });
  await world.inState("shop", "Zero");
  await isSwitched();
  for (const timeout of ["4s", "5s"]) {
    await apply(timeout);
    const [before] = destinations(await resource.get(shop)) ?? [];
    expect([AWAY, { host: "shop", subset: "v1", port: { number: 8080 } }]).toContainEqual(before);
    await isSwitched();
  }
  await apply("6s");
  // Requests find the resolver by the Service's endpoints, whatever the route says.
  expect((await world.ask("shop")).status).toBe(200);
  world.metric = 5;
  await world.inState("shop", "Serve");
  const { spec } = virtualService();
  await isBack(virtualServices, { ...spec, http: spec.http.map((rule) => ({ ...rule, timeout: "6s" })) });
});

test("a route is put back when the ElastiService goes in the midst of sleep", async () => {
  await serve();
  const made = await world.kube.resource(virtualServices).create(virtualService());
  world.metric = 0;
  await world.elasti("shop", { switch: { type: "virtualService", name: "shop" } });
  await world.inState("shop", "Zero");
  await isSwitched();
  await world.kube.resource(elastiServices).delete(shop);
  await eventually(async () =>
    expect((await world.kube.resource(elastiServices).list({ namespace: "default" })).items).toEqual([]),
  );
  await isBack(virtualServices, made.spec);
  expect(await world.replicas("shop")).toBe(1);
});

test("a switch that is changed in the midst of sleep puts the old route back and takes the new one", async () => {
  await serve();
  const resource = world.kube.resource(virtualServices);
  const first = await resource.create(virtualService("first"));
  const second = await resource.create(virtualService("second"));
  world.metric = 0;
  await world.elasti("shop", { switch: { type: "virtualService", name: "first" } });
  await world.inState("shop", "Zero");
  await isSwitched("first");
  const choose = (chosen: unknown) =>
    world.kube.resource(elastiServices).patch(shop, { type: "merge", body: { spec: { switch: chosen } } });

  // One that is not there leaves the old one as it is, since nothing else would lead requests here.
  await choose({ type: "virtualService", name: "nowhere" });
  await eventually(async () => expect(await readyOf()).toMatchObject({ status: "False", reason: "Failed" }));
  await isSwitched("first");
  await choose({ type: "virtualService", name: "second" });
  await isSwitched("second");
  await isBack(virtualServices, first.spec, "first");
  await choose(null);
  await isBack(virtualServices, second.spec, "second");
  expect((await world.get("shop")).status?.state).toBe("Zero");
  expect((await world.ask("shop")).status).toBe(200);
});

test("a switch that is changed again after a status was lost puts back every route that it took", async () => {
  await serve(["--kube-deadline=2s"]);
  const resource = world.kube.resource(virtualServices);
  const first = await resource.create(virtualService("first"));
  const second = await resource.create(virtualService("second"));
  world.metric = 0;
  await world.elasti("shop", { switch: { type: "virtualService", name: "first" } });
  await world.sleeps("shop");
  await isSwitched("first");
  const choose = (chosen: unknown) =>
    world.kube.resource(elastiServices).patch(shop, { type: "merge", body: { spec: { switch: chosen } } });
  await choose({ type: "virtualService", name: "second" });
  // What the turn that takes the second route says of it.
  world.faults.add({ fault: { kind: "hang" }, verb: "patch", resource: "elastiservices", times: 1 });
  await isSwitched("second");
  await isBack(virtualServices, first.spec, "first");
  await choose(null);
  await isBack(virtualServices, second.spec, "second");
}, 60_000);

test("two services behind one route sleep and wake each for itself", async () => {
  await serve();
  await world.workload("cart");
  const resource = world.kube.resource(virtualServices);
  const { spec, ...rest } = virtualService();
  const http = [...spec.http, { route: [{ destination: { host: "cart" } }] }];
  const made = await resource.create({ ...rest, spec: { ...spec, http } });
  world.metric = 0;
  const change = { switch: { type: "virtualService", name: "shop" } };
  await Promise.all([world.elasti("shop", change), world.elasti("cart", change)]);
  await Promise.all(["shop", "cart"].map((name) => world.inState(name, "Zero")));
  const hosts = async () => {
    const rules = (await resource.get(shop)).spec?.["http"] as { route: { destination: { host: string } }[] }[];
    return rules.map(({ route }) => route[0]?.destination.host);
  };
  await eventually(async () => expect(await hosts()).toEqual([AWAY.host, AWAY.host]));
  await Promise.all(["shop", "cart"].map((name) => world.sleeps(name)));

  // The trigger still says idle, and a while goes by before it counts again.
  const cooldownPeriod = 60;
  await world.kube.resource(elastiServices).patch(shop, { type: "merge", body: { spec: { cooldownPeriod } } });
  expect((await world.ask("shop")).status).toBe(200);
  await eventually(async () => expect(await hosts()).toEqual(["shop", AWAY.host]));
  expect(await world.replicas("cart")).toBe(0);
  world.metric = 5;
  expect((await world.ask("cart")).status).toBe(200);
  await isBack(virtualServices, made.spec);
});

test("an HTTPRoute is switched only where a ReferenceGrant lets it, and until then the service is not put to sleep", async () => {
  const place = await serve();
  const made = await world.kube.resource(httpRoutes).create(httpRoute());
  world.metric = 0;
  await world.elasti("shop", { switch: { type: "httpRoute", name: "shop" } });
  await eventually(async () => {
    const condition = await readyOf();
    expect(condition).toMatchObject({ status: "False", reason: "Failed" });
    expect(condition?.message).toContain("ReferenceGrant");
    expect(condition?.message).toContain(HOME);
  });
  await new Promise((resolve) => setTimeout(resolve, 3000));
  expect(await world.replicas("shop")).toBe(1);
  expect((await world.kube.resource(httpRoutes).get(shop)).spec).toEqual(made.spec);

  await world.kube.resource(grants).create(grant);
  await world.inState("shop", "Zero", 30_000);
  const { spec } = await world.kube.resource(httpRoutes).get(shop);
  const set = [{ name: "x-evenkeel-service", value: "shop.default:8080" }];
  expect(spec?.["rules"]).toEqual([
    {
      backendRefs: [
        {
          ...{ group: "", kind: "Service", name: "scale-resolver", namespace: HOME, port: 8012, weight: 1 },
          filters: [{ type: "RequestHeaderModifier", requestHeaderModifier: { set } }],
        },
      ],
    },
  ]);
  await world.sleeps("shop");
  const headers = { host: "shop.example.com", "X-Evenkeel-Service": "shop.default:8080" };
  expect((await ask(place, { headers })).status).toBe(200);
  world.metric = 5;
  await world.inState("shop", "Serve");
  await isBack(httpRoutes, made.spec);
}, 60_000);

async function readyOf() {
  return (await world.get("shop")).status?.conditions?.find(({ type }) => type === "Ready");
}
