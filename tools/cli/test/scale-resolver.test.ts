import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ServiceProcess } from "@evenkeel/testkit";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { admin, ApiServerWithProxy, type Backends } from "./api-server.ts";
import { evenkeel } from "./evenkeel.ts";

const root = join(import.meta.dirname, "../../..");
const definition = join(root, "charts/scale-resolver/files/crds/elasti.truefoundry.com_elastiservices.yaml");

/** A service that starts on a busy machine, in milliseconds. */
const START_TIMEOUT = 90_000;

let server: ApiServerWithProxy;
let service: ServiceProcess;
let env: Readonly<Record<string, string>>;

/** A Service with one ready pod, whose ElastiService has no trigger. */
const objects = [
  "{apiVersion: v1, kind: Namespace, metadata: {name: shop}}",
  "{apiVersion: apps/v1, kind: Deployment, metadata: {namespace: shop, name: web}, spec: {replicas: 1, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: main, image: web}]}}}}",
  "{apiVersion: v1, kind: Service, metadata: {namespace: shop, name: web}, spec: {clusterIP: 10.0.0.1, ipFamilies: [IPv4], selector: {app: web}, ports: [{name: http, port: 80}]}}",
  "{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {namespace: shop, name: web-1, labels: {kubernetes.io/service-name: web}}, addressType: IPv4, endpoints: [{addresses: [10.1.0.1], conditions: {ready: true, serving: true, terminating: false}}], ports: [{name: http, port: 8080, protocol: TCP}]}",
];
const elastiService =
  "{apiVersion: elasti.truefoundry.com/v1alpha1, kind: ElastiService, metadata: {namespace: shop, name: nights}, spec: {service: web, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}}";

/** One whose Service was never made: nothing can be decided about it. */
const astray =
  "{apiVersion: elasti.truefoundry.com/v1alpha1, kind: ElastiService, metadata: {namespace: shop, name: astray}, spec: {service: wbe, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}}";

beforeAll(async () => {
  const backends: Backends = new Map();
  server = await ApiServerWithProxy.start(backends);
  server.api.load(readFileSync(definition, "utf8"));
  for (const object of objects) server.api.load(object);
  const kubeconfig = await server.kubeconfig(admin);
  env = { KUBECONFIG: kubeconfig };
  const flags = [
    ...[`--kubeconfig=${kubeconfig}`, "--state=sqlite::memory:", "--insecure", "--grpc-port=0", "--port=0"],
    ...["--port-range=22900-22919", "--warm-up=0s"],
  ];
  service = ServiceProcess.start(join(root, "apps/scale-resolver/src/main.ts"), flags, { env: process.env });
  backends.set("evenkeel-system/scale-resolver:8080", await service.url("admin", ""));
  // The definition has been served for long when the service answers.
  server.api.load(elastiService);
  server.api.load(astray);
  await service.line(({ object }) => object === "ElastiService/shop/nights");
}, START_TIMEOUT);

afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

const asked = (...args: string[]) => evenkeel(args, { env });

test("scale-resolver's objects have a row with their state, and why", async () => {
  const { code, stdout, stderr } = await asked("status");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toMatch(/^scale-resolver +ready +0\.1\.0 /m);
  expect(stdout).toMatch(/^ElastiService\/shop\/nights +scale-resolver +NoTrigger +Serve +Serve +\d+s /m);
  expect((await asked("status", "-n", "elsewhere")).stdout).toContain("No objects.");
});

test("scale-resolver's objects are explained with replicas, pods, requests and what keeps them awake", async () => {
  const { code, stdout } = await asked("explain", "elastiservice/shop/nights");
  expect(code).toBe(0);
  expect(stdout).toMatch(/^ {2}The state stays Serve, decided \d+s ago/m);
  expect(stdout).toMatch(/^ {2}Replicas of Deployment\/web: read before/m);
  expect(stdout).toMatch(/^ {2}Pods behind the Service web: 1 ready, 0 terminating, 0 starting\.$/m);
  expect(stdout).toMatch(/^ {2}Requests at the resolver: 0 waiting, 0 in flight\.$/m);
  expect(stdout).toMatch(/^ {2}Kept awake \(NoTrigger\): /m);
});

test("an object that nothing can be decided about is explained with what is amiss", async () => {
  const { code, stdout, stderr } = await asked("explain", "elastiservice/shop/astray");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toMatch(/^ {2}ServiceNotFound: .*wbe/m);
});
