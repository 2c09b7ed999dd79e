import { Agent, request } from "node:http";
import type { ServiceProcess } from "@evenkeel/testkit";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { metricOf } from "./asking.ts";
import { eventually, World } from "./world.ts";

const IN_SOAK = process.env["SOAK"] === "1";
const REQUESTS = IN_SOAK ? 100_000 : 10_000;
const SERVICES = Array.from({ length: 10 }, (_, index) => `shop-${index}`);
/** Nodes by the milliseconds after which they see a change of EndpointSlices. */
const LAGS: Readonly<Record<string, number>> = { near: 0, middle: 500, far: 1000, farthest: 1500 };
const NODES = Object.keys(LAGS);
/** Requests of a burst, and milliseconds that it and what follows it last at most. */
const BURST = 65;
const LONGEST_BURST = 300;
const LONGEST_GAP = 2500;
/** How long is waited for a service to fall asleep before the next burst comes all the same. */
const PATIENCE = 20_000;

let world: World;
beforeEach(async () => {
  // A pod that is told to go serves on until every node has heard of it, as it must wherever pods come and go. It is gone before its deletion is complete,
  // and so before anybody can hear of that.
  world = await World.start({
    number: 11,
    nodeLag: (node) => LAGS[node] ?? 0,
    leaveDelay: 2000,
    terminationDelay: 4000,
  });
});
afterEach(async () => {
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

/** What the log of a resolver has said of each service last. */
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

/** Sends bursts to one Service, from all nodes, whatever becomes of the requests before. */
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
    // How long it takes to fall asleep depends on the machine. Half of the bursts come whenever, the others soon after it slept.
    if (random() < 0.5)
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
    `are all answered, once: 0 of ${REQUESTS} fail, and so it is with clients that the resolver keeps after the wake`,
    async () => {
      world.metric = 0;
      // Ten thousand requests keep this process busy, and its API server with it: a Lease must survive that.
      const service = world.serve(["--lease-duration=60s", "--lease-renew-deadline=40s", "--lease-retry-period=2s"]);
      for (const name of SERVICES) {
        await world.workload(name);
        await world.elasti(name);
      }
      for (const name of SERVICES) {
        await eventually(async () => expect((await world.ask(name)).status).toBe(200));
        for (const node of NODES) await eventually(() => world.ask(name, { node }));
      }
      world.seen.length = 0;

      const tally: Tally = { sent: new Map(), failed: [] };
      const states = new States(service);
      const each = REQUESTS / SERVICES.length;
      await Promise.all(SERVICES.map((name, index) => drive(name, each, seeded(index + 1), states, tally)));

      expect(tally.failed).toEqual([]);
      expect(tally.sent.size).toBe(REQUESTS);
      const counts = Map.groupBy(world.seen, ({ path }) => path);
      expect([...tally.sent.keys()].filter((path) => counts.get(path)?.length !== 1)).toEqual([]);
      expect(world.seen.filter(({ path, body }) => body !== tally.sent.get(path))).toEqual([]);
      expect(world.seen.filter(({ late }) => late)).toEqual([]);

      const metrics = await service.url("admin", "/metrics");
      const idle = await metricOf(metrics, "evenkeel_decisions_total", { action: "join", reason: "Idle" });
      const asleep = service.lines.filter(({ before, after }) => before === "Zero" && after !== "Zero").length;
      expect(idle).toBeGreaterThan(50);
      expect(asleep / idle).toBeGreaterThanOrEqual(0.25);

      await keepsPinnedClients("shop-0");
      expect(service.lines.filter(({ level }) => level === "error")).toEqual([]);
    },
    IN_SOAK ? 1_800_000 : 240_000,
  );
});

/** Clients that came while the service slept go on over connections that are kept, until the resolver has long left the path. */
async function keepsPinnedClients(name: string): Promise<void> {
  await world.sleeps(name, 30_000);
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
  let over = false;
  const statuses = agents.map(async (agent, index) => {
    const got: number[] = [];
    for (let turn = 0; !over; turn++) {
      got.push(await asked(agent, `/pinned/${index}/${turn}`));
      await pause(10);
    }
    return got;
  });
  // They are traffic: the metric says so from now on.
  world.metric = 5;
  await world.inState(name, "Serve", 30_000);
  await pause(500);
  over = true;
  const got = (await Promise.all(statuses)).flat();
  for (const agent of agents) agent.destroy();
  expect(new Set(got)).toEqual(new Set([200]));
  expect(got.length).toBeGreaterThan(200);
}
