import { Agent, request } from "node:http";
import { eventually } from "@evenkeel/runtime/testing";
import type { ServiceProcess } from "@evenkeel/testkit";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { metricOf } from "./admin-api.ts";
import { IN_SOAK } from "./soak.ts";
import { World } from "./world.ts";

/** Requests of a burst, and how many bursts there are for each service. */
const BURST = 65;
const BURSTS = IN_SOAK ? 154 : 2;
const SERVICES = Array.from({ length: IN_SOAK ? 10 : 8 }, (_, index) => `shop-${index}`);
const REQUESTS = SERVICES.length * BURSTS * BURST;
/** Nodes by the milliseconds after which they see a change of EndpointSlices. */
const LAGS: Readonly<Record<string, number>> = { near: 0, middle: 500, far: 1000, farthest: 1500 };
const NODES = Object.keys(LAGS);
/** Milliseconds that a burst and what follows it last at most. */
const LONGEST_BURST = 300;
const LONGEST_GAP = 2500;
/** How long to wait for a service to fall asleep before the next burst. */
const PATIENCE = 20_000;

let world: World;
beforeAll(async () => {
  // A terminating pod serves until every node has followed, as in any cluster. Its program ends before its deletion is
  // complete and reported.
  world = await World.start({ nodeLag: (node) => LAGS[node] ?? 0, exitDelay: 2000, terminationDelay: 8000 });
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
});

/** Always the same numbers in [0, 1), so that a run can be repeated. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** The last log line of a resolver about each service. */
class States {
  readonly #service: ServiceProcess;
  readonly #states = new Map<string, unknown>();
  #read = 0;

  constructor(service: ServiceProcess) {
    this.#service = service;
  }

  of(name: string): unknown {
    const { lines } = this.#service;
    for (; this.#read < lines.length; this.#read++) {
      const { object, after } = lines[this.#read] ?? {};
      if (typeof object === "string" && after !== undefined) this.#states.set(object.split("/").at(-1) ?? "", after);
    }
    return this.#states.get(name);
  }
}

interface Tally {
  readonly sent: Map<string, string>;
  readonly failed: string[];
}

/** Sends bursts to one Service, from all nodes, without waiting for earlier requests. */
async function drive(service: string, count: number, random: () => number, states: States, tally: Tally) {
  const under: Promise<void>[] = [];
  for (let sent = 0; sent < count;) {
    const length = random() * LONGEST_BURST;
    const burst = Math.min(BURST, count - sent);
    for (let one = 0; one < burst; one++, sent++) {
      const node = NODES[Math.floor(random() * NODES.length)] ?? "near";
      const isPost = random() < 0.5;
      under.push(send(service, `/${service}/${sent}`, node, isPost, random() * length, tally));
    }
    await pause(length);
    if (sent === count) break;
    // The time to fall asleep depends on the machine. A third of the bursts are sent at any time, the others soon after
    // the service slept.
    if (random() < 2 / 3)
      await eventually(() => expect(states.of(service)).toBe("Zero"), PATIENCE).catch(() => undefined);
    await pause(random() * LONGEST_GAP);
  }
  await Promise.all(under);
}

async function send(service: string, path: string, node: string, isPost: boolean, after: number, tally: Tally) {
  await pause(after);
  const body = isPost ? `body of ${path}` : "";
  tally.sent.set(path, body);
  try {
    const answer = await world.ask(service, { node, path, method: isPost ? "POST" : "GET", body });
    if (answer.status !== 200 || !answer.body.endsWith(`${path} ${body}`)) {
      tally.failed.push(`${path} from ${node}: ${answer.status} ${answer.body}`);
    }
  } catch (error) {
    tally.failed.push(`${path} from ${node}: ${String(error)}`);
  }
}

describe("requests that come while services fall asleep", () => {
  test(
    `are all answered, once: 0 of ${REQUESTS} fail, also of clients that keep their connection after the wake`,
    async () => {
      // The requests keep this process busy, and its API server with it: a Lease must survive that.
      const service = world.serve(["--lease-duration=60s", "--lease-renew-deadline=40s", "--lease-retry-period=2s"]);
      for (const name of SERVICES) {
        world.traffic.set(name, 0);
        await world.workload(name);
        await world.elasti(name);
      }
      for (const name of SERVICES) {
        await eventually(async () => expect((await world.ask(name)).status).toBe(200));
        for (const node of NODES) await eventually(() => world.ask(name, { node }));
      }
      world.received.length = 0;

      const tally: Tally = { sent: new Map(), failed: [] };
      const states = new States(service);
      await Promise.all(SERVICES.map((name, index) => drive(name, BURSTS * BURST, seeded(index + 1), states, tally)));

      expect(tally.failed).toEqual([]);
      expect(tally.sent.size).toBe(REQUESTS);
      const counts = Map.groupBy(world.received, ({ path }) => path);
      expect([...tally.sent.keys()].filter((path) => counts.get(path)?.length !== 1)).toEqual([]);
      expect(world.received.filter(({ path, body }) => body !== tally.sent.get(path))).toEqual([]);
      expect(world.received.filter(({ late }) => late)).toEqual([]);

      const metrics = await service.url("admin", "/metrics");
      const bursts = SERVICES.length * BURSTS;
      const idle = await metricOf(metrics, "evenkeel_decisions_total", { action: "join", reason: "Idle" });
      const asleep = service.lines.filter(({ before, after }) => before === "Zero" && after !== "Zero").length;
      expect(idle).toBeGreaterThan(bursts / 4);
      expect(asleep).toBeGreaterThanOrEqual(bursts / 4);

      await keepsPinnedClients("pinned");
      expect(service.lines.filter(({ level }) => level === "error")).toEqual([]);
    },
    IN_SOAK ? 1_800_000 : 240_000,
  );
});

/** Clients that connected while the service slept reuse their connections until after the path is restored. */
async function keepsPinnedClients(name: string): Promise<void> {
  await world.asleep(name);
  const agents = Array.from({ length: 20 }, () => new Agent({ keepAlive: true, maxSockets: 1 }));
  const place = { host: world.clusterAddress(name), port: 8080 };
  const asked = (agent: Agent, path: string) =>
    new Promise<number>((resolve, reject) => {
      const sent = request({ ...place, agent, path }, (answer) => {
        answer.resume();
        answer.once("end", () => resolve(answer.statusCode ?? 0));
      });
      sent.once("error", reject);
      sent.end();
    });
  let [over, answered] = [false, 0];
  const statuses = agents.map(async (agent, index) => {
    const got: number[] = [];
    for (let round = 0; !over; round++) {
      got.push(await asked(agent, `/pinned/${index}/${round}`));
      answered += 1;
      await pause(10);
    }
    return got;
  });
  // They are traffic, which the metric reports from now on.
  world.traffic.set(name, 5);
  await world.inState(name, "Serve");
  const serving = answered;
  await eventually(() => answered >= serving + 200);
  over = true;
  const got = (await Promise.all(statuses)).flat();
  for (const agent of agents) agent.destroy();
  expect(new Set(got)).toEqual(new Set([200]));
  expect(got.length).toBeGreaterThan(200);
}
