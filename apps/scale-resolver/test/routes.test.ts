import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type KubeObject, type ResourceTypeOf } from "@evenkeel/kube";
import { eventually } from "@evenkeel/runtime/testing";
import { afterAll, beforeAll, expect, jest, test } from "@jest/globals";
import { elastiServices } from "../src/elasti-service-resource.ts";
import { reconcileAgain } from "./reconciles.ts";
import { ask } from "./ask.ts";
import { World } from "./world.ts";

jest.setTimeout(60_000);

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

const SWITCHED = "evenkeel.io/switched";
/** The resolver's namespace here, which is not the routes'. */
const HOME = "evenkeel-system";
const RESOLVER = { host: `scale-resolver.${HOME}.svc.cluster.local`, port: { number: 8012 } };

/** A world with routes. The resolver has its own Service, in which it is the only ready replica. */
class Scene implements AsyncDisposable {
  readonly world: World;
  /** The resolver's address for requests of all Services. */
  readonly place: { readonly host: string; readonly port: number };

  private constructor(world: World, place: Scene["place"]) {
    this.world = world;
    this.place = place;
  }

  static async start(): Promise<Scene> {
    const world = await World.start();
    for (const name of ["virtualservices", "gateway-api"]) {
      world.api.load(await readFile(join(import.meta.dirname, `fixtures/${name}.yaml`), "utf8"));
    }
    world.api.load(JSON.stringify({ apiVersion: "v1", kind: "Namespace", metadata: { name: HOME } }));
    await eventually(async () => {
      for (const type of [virtualServices, httpRoutes, grants]) expect(await world.kube.serves(type)).toBe(true);
    });
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
    const flags = [`--lease-namespace=${HOME}`, "--resolver-service=scale-resolver", "--pod-name=a"];
    const { ports } = (await world.serve(flags).phase("ready")) as { ports: Record<string, number> };
    return new Scene(world, { host: "127.0.0.1", port: ports["requests"] ?? 0 });
  }

  /** An idle service with a switch of that type. The default name of the route is the service's. */
  async idle(service: string, type: "virtualService" | "httpRoute", route = service): Promise<void> {
    this.world.traffic.set(service, 0);
    await this.world.workload(service);
    await this.world.elasti(service, { switch: { type, name: route } });
  }

  /** A sleeping service with a switch of that type. The default name of the route is the service's. */
  async asleep(service: string, type: "virtualService" | "httpRoute", route = service): Promise<void> {
    await this.world.asleep(service, { switch: { type, name: route } });
  }

  async create(type: ResourceTypeOf<Route>, route: Route): Promise<Route> {
    return this.world.kube.resource(type).create(route);
  }

  async get(type: ResourceTypeOf<Route>, name: string): Promise<Route> {
    return this.world.kube.resource(type).get({ namespace: "default", name });
  }

  /** Resolves when a VirtualService has the resolver as its first destination. */
  async isSwitched(name: string): Promise<Route> {
    return eventually(async () => {
      const route = await this.get(virtualServices, name);
      expect(destinations(route)[0]).toEqual(RESOLVER);
      return route;
    });
  }

  async isRestored(type: ResourceTypeOf<Route>, name: string, spec: unknown): Promise<void> {
    await eventually(async () => {
      const route = await this.get(type, name);
      expect(route.spec).toEqual(spec);
      expect(route.metadata.annotations?.[SWITCHED]).toBeUndefined();
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.world[Symbol.asyncDispose]();
  }
}

function virtualService(name: string, service = name) {
  const spec = {
    hosts: ["shop.example.com"],
    gateways: ["mesh", "edge"],
    http: [
      {
        match: [{ uri: { prefix: "/" } }],
        timeout: "3s",
        route: [
          { destination: { host: service, subset: "v1", port: { number: 8080 } }, weight: 90 },
          { destination: { host: "other" }, weight: 10 },
        ],
      },
    ],
  };
  const metadata = { namespace: "default", name };
  return { apiVersion: "networking.istio.io/v1", kind: "VirtualService", metadata, spec };
}

function httpRoute(name: string) {
  const spec = { hostnames: ["shop.example.com"], rules: [{ backendRefs: [{ name, port: 8080 }] }] };
  return { apiVersion: `${GATEWAY}/v1`, kind: "HTTPRoute", metadata: { namespace: "default", name }, spec };
}

const grant = {
  ...{ apiVersion: `${GATEWAY}/v1beta1`, kind: "ReferenceGrant", metadata: { namespace: HOME, name: "routes" } },
  spec: { from: [{ group: GATEWAY, kind: "HTTPRoute", namespace: "default" }], to: [{ group: "", kind: "Service" }] },
};

function destinations(route: Route): readonly unknown[] {
  const [rule] = route.spec?.["http"] as { route: { destination: unknown }[] }[];
  return rule?.route.map(({ destination }) => destination) ?? [];
}

let scene: Scene;
let world: World;
beforeAll(async () => {
  scene = await Scene.start();
  ({ world } = scene);
  await scene.create(grants, grant);
});
afterAll(async () => {
  await scene[Symbol.asyncDispose]();
});

test.concurrent(
  "a VirtualService redirects to the resolver during sleep, where a mesh finds the service too, and is restored after a wake",
  async () => {
    const made = await scene.create(virtualServices, virtualService("meshed"));
    await scene.idle("meshed", "virtualService");
    await world.inState("meshed", "Zero");
    const route = await scene.isSwitched("meshed");
    const [rule] = route.spec?.["http"] as { readonly route: readonly unknown[] }[];
    expect(rule).toMatchObject({ match: [{ uri: { prefix: "/" } }], timeout: "3s" });
    expect(rule?.route).toEqual([
      {
        destination: RESOLVER,
        weight: 90,
        headers: { request: { set: { "x-evenkeel-service": "meshed.default:8080" } } },
      },
      { destination: { host: "other" }, weight: 10 },
    ]);
    await world.sleeps("meshed");

    // As a mesh would send it now: to the port for all Services, with the host of the client's request.
    const headers = { host: "shop.example.com", "x-evenkeel-service": "meshed.default:8080" };
    const answer = await ask(scene.place, { path: "/by-mesh", headers });
    expect(answer.status).toBe(200);
    expect(answer.body).toContain("/by-mesh");
    world.traffic.set("meshed", 5);
    await world.inState("meshed", "Serve");
    await scene.isRestored(virtualServices, "meshed", made.spec);
  },
);

test.concurrent.each([
  { type: "virtualService", kind: virtualServices, made: virtualService("settled-vs") },
  { type: "httpRoute", kind: httpRoutes, made: httpRoute("settled-hr") },
] as const)(
  "reconciles that find its $kind.kind switched neither restore it nor write it again",
  async ({ type, kind, made }) => {
    const { name } = made.metadata;
    await scene.create(kind, made);
    await scene.asleep(name, type);
    const before = await scene.get(kind, name);
    expect(before.metadata.annotations).toHaveProperty([SWITCHED]);
    await reconcileAgain(world, name);
    // Restored and switched again it would have another version.
    expect(await scene.get(kind, name)).toEqual(before);
  },
);

test.concurrent(
  "a manifest that is applied again during sleep is switched again, and nothing is lost meanwhile",
  async () => {
    const { spec, ...rest } = virtualService("applied");
    const specWith = (timeout: string) => ({ ...spec, http: spec.http.map((rule) => ({ ...rule, timeout })) });
    const resource = world.kube.resource(virtualServices);
    const apply = (timeout: string) =>
      resource.apply({ ...rest, spec: specWith(timeout) }, { fieldManager: "argocd", force: true });
    await apply("3s");
    await scene.asleep("applied", "virtualService");
    await scene.isSwitched("applied");
    for (const timeout of ["4s", "5s"]) {
      await apply(timeout);
      const [before] = destinations(await scene.get(virtualServices, "applied"));
      expect([RESOLVER, { host: "applied", subset: "v1", port: { number: 8080 } }]).toContainEqual(before);
      await scene.isSwitched("applied");
    }
    await apply("6s");
    // Requests reach the resolver by the Service's endpoints, whatever the route says.
    expect((await world.ask("applied")).status).toBe(200);
    world.traffic.set("applied", 5);
    await world.inState("applied", "Serve");
    await scene.isRestored(virtualServices, "applied", specWith("6s"));
  },
);

test.concurrent("a route is restored when the ElastiService is deleted during sleep", async () => {
  const made = await scene.create(virtualServices, virtualService("deleted"));
  await scene.asleep("deleted", "virtualService");
  await scene.isSwitched("deleted");
  await world.delete("deleted");
  await world.isGone("deleted");
  await scene.isRestored(virtualServices, "deleted", made.spec);
  expect(await world.replicas("deleted")).toBe(1);
});

test.concurrent("a switch that is changed during sleep restores the old route and takes the new one", async () => {
  const first = await scene.create(virtualServices, virtualService("first", "changed"));
  const second = await scene.create(virtualServices, virtualService("second", "changed"));
  await scene.asleep("changed", "virtualService", "first");
  await scene.isSwitched("first");

  // With one that does not exist the old one stays as it is, since nothing else would redirect requests.
  await world.edit("changed", { switch: { type: "virtualService", name: "nowhere" } });
  expect(await world.ready("changed", "Failed")).toMatchObject({ status: "False" });
  await scene.isSwitched("first");
  await world.edit("changed", { switch: { type: "virtualService", name: "second" } });
  await scene.isSwitched("second");
  await scene.isRestored(virtualServices, "first", first.spec);
  await world.edit("changed", { switch: null });
  await scene.isRestored(virtualServices, "second", second.spec);
  expect((await world.get("changed")).status?.state).toBe("Zero");
  expect((await world.ask("changed")).status).toBe(200);
});

test.concurrent(
  "a switch that is changed again after a status was lost restores every route that it took",
  async () => {
    await using scene = await Scene.start();
    const { world } = scene;
    const first = await scene.create(virtualServices, virtualService("first", "shop"));
    const second = await scene.create(virtualServices, virtualService("second", "shop"));
    await scene.asleep("shop", "virtualService", "first");
    await scene.isSwitched("first");
    const replaceSwitch = async (change: unknown) => {
      const stored = await world.get("shop");
      const spec = { ...(stored.spec as object), switch: change };
      await world.kube.resource(elastiServices).replace({ ...stored, spec });
    };
    // Hits what reconciles write about the second route, and not the edits, which are PUTs.
    const end = world.faults.add({ fault: { kind: "status", code: 500 }, verb: "patch", resource: "elastiservices" });
    await replaceSwitch({ type: "virtualService", name: "second" });
    await scene.isSwitched("second");
    await scene.isRestored(virtualServices, "first", first.spec);
    await replaceSwitch(undefined);
    end();
    await scene.isRestored(virtualServices, "second", second.spec);
  },
);

test.concurrent("two services behind one route sleep and wake each for itself", async () => {
  const { spec, ...rest } = virtualService("shared");
  const http = [...spec.http, { route: [{ destination: { host: "cart" } }] }];
  const made = await scene.create(virtualServices, { ...rest, spec: { ...spec, http } });
  await Promise.all(["shared", "cart"].map((name) => scene.asleep(name, "virtualService", "shared")));
  const hosts = async () => {
    const rules = (await scene.get(virtualServices, "shared")).spec?.["http"] as {
      route: { destination: { host: string } }[];
    }[];
    return rules.map(({ route }) => route[0]?.destination.host);
  };
  await eventually(async () => expect(await hosts()).toEqual([RESOLVER.host, RESOLVER.host]));

  // The trigger still reads idle, and the cooldown keeps it awake.
  await world.edit("shared", { cooldownPeriod: 60 });
  expect((await world.ask("shared")).status).toBe(200);
  await eventually(async () => expect(await hosts()).toEqual(["shared", RESOLVER.host]));
  expect(await world.replicas("cart")).toBe(0);
  world.traffic.set("cart", 5);
  expect((await world.ask("cart")).status).toBe(200);
  await scene.isRestored(virtualServices, "shared", made.spec);
});

test.concurrent(
  "an HTTPRoute is switched only where a ReferenceGrant allows it, and until then the service does not sleep",
  async () => {
    await using scene = await Scene.start();
    const { world } = scene;
    const made = await scene.create(httpRoutes, httpRoute("shop"));
    await scene.idle("shop", "httpRoute");
    const condition = await world.ready("shop", "Failed");
    expect(condition).toMatchObject({ status: "False" });
    expect(condition.message).toContain("ReferenceGrant");
    expect(condition.message).toContain(HOME);
    // Another one falls asleep meanwhile.
    await world.fallsAsleep("control");
    expect(await world.replicas("shop")).toBe(1);
    expect((await scene.get(httpRoutes, "shop")).spec).toEqual(made.spec);

    await scene.create(grants, grant);
    await world.inState("shop", "Zero");
    const { spec } = await scene.get(httpRoutes, "shop");
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
    expect((await ask(scene.place, { headers })).status).toBe(200);
    world.traffic.set("shop", 5);
    await world.inState("shop", "Serve");
    await scene.isRestored(httpRoutes, "shop", made.spec);
  },
);
