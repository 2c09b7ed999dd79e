import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { Cluster } from "../scale-resolver/cluster.ts";
import { Resolver } from "../scale-resolver/resolver.ts";

const root = join(import.meta.dirname, "../../../..");

const SERVICE = "shop";
const RESOLVER = "scale-resolver";
/** The resolver's Service and its route are in the namespace of the Lease. */
const NAMESPACE = "default";
const ISTIO = "networking.istio.io";

/** Of Istio's definition as much as the resolver needs. */
const ROUTES = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `virtualservices.${ISTIO}` },
  spec: {
    group: ISTIO,
    names: {
      kind: "VirtualService",
      listKind: "VirtualServiceList",
      plural: "virtualservices",
      singular: "virtualservice",
    },
    scope: "Namespaced",
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
      },
    ],
  },
};

const ROUTE = {
  apiVersion: `${ISTIO}/v1`,
  kind: "VirtualService",
  metadata: { namespace: NAMESPACE, name: SERVICE },
  spec: { hosts: [SERVICE], http: [{ route: [{ destination: { host: SERVICE, port: { number: 80 } } }] }] },
};

/** The resolver's only ready replica. */
const REPLICA = {
  apiVersion: "discovery.k8s.io/v1",
  kind: "EndpointSlice",
  metadata: { namespace: NAMESPACE, name: RESOLVER, labels: { "kubernetes.io/service-name": RESOLVER } },
  addressType: "IPv4",
  endpoints: [{ addresses: ["127.0.0.1"], conditions: { ready: true }, targetRef: { kind: "Pod", name: "a" } }],
  ports: [],
};

/** A request that the rule does not match is compared with it all the same. */
const PROBE = { path: { type: "RegularExpression", value: "/health.*" }, response: { status: 200, body: "asleep" } };

/**
 * scale-resolver's bundle with the flags of its chart, and a Service that it keeps in Guard: requests of a redirected
 * route, and of clients that the Service's endpoints lead here, go through it to a pod. The API server is a process of
 * its own, as in the suite scale-resolver.
 */
export class Guard implements AsyncDisposable {
  readonly pid: number;
  /** Where clients of the Service come in. They are asked to reconnect once a second. */
  readonly servicePort: number;
  /** Where a mesh or a gateway sends requests of the route, with `headers`. It keeps its connections. */
  readonly routePort: number;
  readonly headers: readonly string[] = [`X-Evenkeel-Service: ${SERVICE}.${NAMESPACE}`];
  readonly #running: AsyncDisposable;

  private constructor({ pid, requestsPort }: Resolver, servicePort: number, running: AsyncDisposable) {
    this.pid = pid;
    this.routePort = requestsPort;
    this.servicePort = servicePort;
    this.#running = running;
  }

  /** `pod` answers the Service's requests, `path` with 200. */
  static async start(pod: { readonly address: string; readonly port: number }, path: string): Promise<Guard> {
    const bundled = spawnSync("nx", ["run", "scale-resolver:bundle"], { cwd: root, encoding: "utf8" });
    if (bundled.status !== 0) throw new Error(`The bundle was not made:\n${bundled.stdout}${bundled.stderr}`);
    await using starting = new AsyncDisposableStack();
    const cluster = starting.use(await Cluster.start());
    for (const object of [ROUTES, REPLICA]) await cluster.load(object);
    await cluster.load(ROUTE);
    const route = { type: "virtualService", name: SERVICE };
    await cluster.addService(SERVICE, 10_000, { switch: route, probeResponse: [PROBE] });
    const flags = [
      `--lease-namespace=${NAMESPACE}`,
      `--resolver-service=${RESOLVER}`,
      "--pod-name=a",
      // It stays in Guard for as long as this.
      "--settle=1h",
    ];
    const resolver = starting.use(await Resolver.start(cluster, { flags }));
    const { port } = await resolver.holding(SERVICE);
    const first = fetch(`http://127.0.0.1:${port}${path}`);
    await cluster.ready(SERVICE, pod);
    const { status } = await first;
    if (status !== 200) throw new Error(`the first request of ${SERVICE} was answered with ${status}`);
    await cluster.stands(SERVICE, "Guard");
    return new Guard(resolver, port, starting.move());
  }

  [Symbol.asyncDispose](): PromiseLike<void> {
    return this.#running[Symbol.asyncDispose]();
  }
}
