import { createServer, type Server } from "node:http";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { waitUntil } from "@evenkeel/control-plane";
import {
  apply,
  type ClusterProxy,
  clusterProxy,
  deployment,
  kubectl,
  list,
  type Pod,
  TEST_TIMEOUT_MS,
  useCluster,
} from "../src/index.ts";

const BACKEND_PORT = 8080;

let backend: Server;
let proxy: ClusterProxy;

afterAll(async () => {
  await proxy[Symbol.asyncDispose]();
  backend.closeAllConnections();
  backend.close();
});

const cluster = useCluster({ name: "traffic", nodes: 2 });

beforeAll(async () => {
  // One program for all pods: it answers with the address that it was called by.
  backend = createServer(({ socket }, response) => response.end(socket.localAddress));
  await new Promise<void>((resolve) => backend.listen(BACKEND_PORT, "0.0.0.0", resolve));
  proxy = clusterProxy(cluster());
});

function service(name: string, selector?: object): object {
  const ports = [{ name: "http", port: 80, targetPort: BACKEND_PORT }];
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name, namespace: "default" },
    spec: { ports, ...(selector && { selector }) },
  };
}

/** Whom a connection of its own reaches; the error's code where it is none. */
async function reached(url: string): Promise<string> {
  try {
    return await (await fetch(url, { headers: { connection: "close" } })).text();
  } catch (error) {
    return String((error as { cause?: { code?: string } }).cause?.code);
  }
}

const addresses = async (app: string) =>
  (await list<Pod>(cluster(), "pods", "-l", `app=${app}`)).map(({ status }) => status.podIP ?? "").sort();

test(
  "every pod of a Deployment answers through the ClusterIP; without pods it refuses, and with a new one it answers again",
  async () => {
    await apply(cluster(), deployment("web", 3), service("web", { app: "web" }));
    await kubectl(cluster(), ["rollout", "status", "deployment/web", "--timeout=60s"]);
    const url = await proxy.url("default", "web", 80);
    expect(url).toMatch(/^http:\/\/10\.96\.\d+\.\d+:80$/);
    const pods = await addresses("web");
    const seen = new Set<string>();
    await waitUntil("all three to have answered", async () => {
      seen.add(await reached(url));
      return seen.size >= 3 ? undefined : `${[...seen].join(", ")} of ${pods.join(", ")} did`;
    });
    expect([...seen].sort()).toEqual(pods);

    await kubectl(cluster(), ["scale", "deployment/web", "--replicas=0"]);
    await waitUntil("connections to be refused", async () => {
      const answer = await reached(url);
      return answer === "ECONNREFUSED" ? undefined : answer;
    });
    await kubectl(cluster(), ["scale", "deployment/web", "--replicas=1"]);
    expect(await proxy.url("default", "web", 80)).toBe(url);
    expect(await addresses("web")).toEqual([await reached(url)]);
  },
  TEST_TIMEOUT_MS,
);

test(
  "an endpoint that ends is called while none is ready, and no longer once one is",
  async () => {
    const slice = (name: string, address: string, conditions: object) => ({
      apiVersion: "discovery.k8s.io/v1",
      kind: "EndpointSlice",
      metadata: { name, namespace: "default", labels: { "kubernetes.io/service-name": "ending" } },
      addressType: "IPv4",
      endpoints: [{ addresses: [address], conditions }],
      ports: [{ name: "http", port: BACKEND_PORT }],
    });
    await apply(
      cluster(),
      service("ending"),
      slice("ending-1", "10.200.250.1", { ready: false, serving: true, terminating: true }),
    );
    const url = await proxy.url("default", "ending", 80);
    expect(await reached(url)).toBe("10.200.250.1");
    await apply(cluster(), slice("ending-2", "10.200.250.2", { ready: true }));
    await waitUntil("the ready one to be called", async () => {
      const answer = await reached(url);
      return answer === "10.200.250.2" ? undefined : answer;
    });
    for (let call = 0; call < 20; call++) expect(await reached(url)).toBe("10.200.250.2");
  },
  TEST_TIMEOUT_MS,
);

test(
  "an API server that restarts cuts nobody off, and what changes after it is followed",
  async () => {
    await apply(cluster(), deployment("steady", 1), service("steady", { app: "steady" }));
    const url = await proxy.url("default", "steady", 80);
    await cluster().kill("kube-apiserver");
    expect(await reached(url)).toMatch(/^10\.200\./);
    await cluster().restart("kube-apiserver");
    await kubectl(cluster(), ["scale", "deployment/steady", "--replicas=0"]);
    await waitUntil("connections to be refused", async () => {
      const answer = await reached(url);
      return answer === "ECONNREFUSED" ? undefined : answer;
    });
  },
  TEST_TIMEOUT_MS,
);
