import { once } from "node:events";
import { createServer, get, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { eventually } from "@evenkeel/runtime/testing";
import { controlPlane, dataPlane, podPrograms, simNode, workloads } from "@evenkeel/sim";
import { definitionOf, loopbackAddresses, ServiceProcess } from "@evenkeel/testkit";
import { expect, test } from "@jest/globals";
import { load, nodesOf, policy, read } from "./hot-spot.ts";
import { plannerWorld } from "./planner-world.ts";

/** `nx run eviction-planner:integration` makes it first. */
const resolverMain = join(import.meta.dirname, "../../scale-resolver/dist/main.mjs");
const PORT = 8080;
/** Clients that ask one after another, each time over a new connection. */
const CLIENTS = 4;

/** The status of each answer; 0 without one. */
async function statusOf(host: string): Promise<number> {
  const asked = get({ host, port: PORT, agent: false });
  try {
    const [answer] = (await once(asked, "response")) as [IncomingMessage];
    await once(answer.resume(), "end");
    return answer.statusCode ?? 0;
  } catch {
    return 0;
  }
}

/** A Deployment, its Service and the ElastiService of both. */
function checkout(clusterIP: string): readonly [object, object, object] {
  const labels = { app: "checkout" };
  const resources = { requests: { cpu: "1", memory: "2Gi" } };
  const metadata = { name: "checkout", namespace: "default" };
  return [
    {
      ...{ apiVersion: "apps/v1", kind: "Deployment", metadata },
      spec: {
        ...{ replicas: 1, selector: { matchLabels: labels } },
        template: { metadata: { labels }, spec: { containers: [{ name: "main", image: "echo", resources }] } },
      },
    },
    {
      ...{ apiVersion: "v1", kind: "Service", metadata },
      spec: {
        clusterIP,
        ipFamilies: ["IPv4"],
        selector: labels,
        ports: [{ name: "http", port: PORT, targetPort: PORT }],
      },
    },
    {
      ...{ apiVersion: "elasti.truefoundry.com/v1alpha1", kind: "ElastiService", metadata },
      spec: {
        ...{ service: "checkout", minTargetReplicas: 1, cooldownPeriod: 1, quietPeriod: 1 },
        scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "checkout" },
      },
    },
  ];
}

test("with scale-resolver as its peer, the only pod of a service moves under load and no request is lost", async () => {
  await using addresses = await loopbackAddresses();
  const plane = dataPlane({ nodeLag: () => 0, locate: ({ address, port }) => ({ host: address, port }) });
  const programs = podPrograms(({ name, address }) => {
    const server = createServer((_request, answer) => answer.end(name)).listen(PORT, address);
    return {
      kill: () => {
        server.close();
        server.closeAllConnections();
      },
    };
  });
  const delays = { startDelay: 800, terminationDelay: 500, podCidr: addresses.range };
  const server = { behaviours: [...controlPlane, ...workloads(delays), programs, plane.behaviour] };
  await using world = await plannerWorld(server);
  world.api.load(definitionOf("elastiservices"));
  load(world, simNode("one", { cpu: "4", memory: "8Gi" }));
  const clusterIP = addresses.of("checkout");
  const [deployment, service, elastiService] = checkout(clusterIP);
  for (const object of [deployment, service]) load(world, object);
  // The kind is served a moment after its definition is there.
  await eventually(() => load(world, elastiService));
  // The pod has a companion, so that its node is fuller than one that joins later would be with it.
  const companion = { name: "main", image: "echo", resources: { requests: { cpu: "1500m", memory: "3Gi" } } };
  load(world, {
    ...{ apiVersion: "v1", kind: "Pod", metadata: { name: "companion", namespace: "default" } },
    spec: { nodeName: "one", containers: [companion] },
  });
  await plane.reach({
    node: "cluster",
    namespace: "default",
    service: "checkout",
    port: PORT,
    at: { host: clusterIP, port: PORT },
  });

  const lease = ["--lease-duration=3s", "--lease-renew-deadline=2s"];
  const own = ["--port=0", `--port-range=${addresses.ports}`, "--settle=200ms", "--warm-up=0s", ...lease];
  await using resolver = ServiceProcess.start(resolverMain, world.flags(own));
  const { ports } = (await resolver.phase("ready")) as { readonly ports: Readonly<Record<string, number>> };
  const elasti = "apis/elasti.truefoundry.com/v1alpha1/namespaces/default/elastiservices/checkout";
  await eventually(async () => expect(await read(world, elasti)).toMatchObject({ status: { state: "Serve" } }), 60_000);
  await eventually(async () => expect(await statusOf(clusterIP)).toBe(200), 30_000);

  const statuses: number[] = [];
  let isOver = false;
  const client = async (): Promise<void> => {
    while (!isOver) statuses.push(await statusOf(clusterIP));
  };
  const clients = Array.from({ length: CLIENTS }, client);
  load(world, simNode("two", { cpu: "4", memory: "8Gi" }));
  const selecting = { workloadSelectors: [{ matchLabels: { app: "checkout" } }] };
  load(world, policy("default", { ...selecting, basis: "requests", dryRun: false, targetSigma: 0.01 }));
  const planner = world.serve(["--sync-period=300ms", `--drain-peers=127.0.0.1:${ports["grpc"]}`]);
  await planner.line(({ msg }) => msg === "evicted a pod");
  await planner.line(({ msg }) => msg === "the replacement of an evicted pod is ready");
  // Released: requests go straight to the new pod again.
  await eventually(async () => expect(await read(world, elasti)).toMatchObject({ status: { state: "Serve" } }), 60_000);
  isOver = true;
  await Promise.all(clients);
  expect((await nodesOf(world)).toSorted()).toEqual(["one", "two"]);
  expect(statuses.length).toBeGreaterThan(100);
  expect(statuses.filter((status) => status !== 200)).toEqual([]);
}, 180_000);
