import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { eventually } from "@evenkeel/runtime/testing";
import { freePorts } from "@evenkeel/state-contract";
import { expect, test } from "@jest/globals";
import { configuration, fleetWorld, type FleetWorld, loadBalancer, settled, staticFleet } from "./fleet-world.ts";

const pods = ["sample-collector-0", "sample-collector-1"];
const path = (job: string) => (collector: string) => `/jobs/${job}/targets?collector_id=${collector}`;
const JSON_TYPE = { "content-type": "application/json" };

/** Discovery must not connect to loopback, so that a source must listen on another address of this machine. */
const address = Object.values(networkInterfaces())
  .flat()
  .find((each) => each?.family === "IPv4" && !each.internal && !each.address.startsWith("169.254."))?.address;
const testSource = address === undefined ? test.skip : test.concurrent;

/** A source of http_sd whose answers a test chooses. */
class Source implements AsyncDisposable {
  answer: RequestListener;
  /** Requests that have ended, in whatever way. */
  ended = 0;
  /** Bytes that were sent in answer to the last request. */
  sent = 0;
  readonly #server: Server;

  private constructor(server: Server, answer: RequestListener) {
    this.#server = server;
    this.answer = answer;
    server.on("request", (request, response) => {
      this.sent = 0;
      response.once("close", () => (this.ended += 1));
      this.answer(request, response);
    });
  }

  static async start(answer: RequestListener): Promise<Source> {
    const server = createServer().listen(0, address);
    await once(server, "listening");
    return new Source(server, answer);
  }

  get url(): string {
    return `http://${address}:${(this.#server.address() as AddressInfo).port}/targets`;
  }

  /** White space without end. */
  readonly endless: RequestListener = (_request, response) => {
    const chunk = Buffer.alloc(1024 * 1024, " ");
    const more = (): void => {
      while (!response.destroyed && this.sent < 2 ** 30) {
        this.sent += chunk.length;
        if (!response.write(chunk)) return;
      }
    };
    response.writeHead(200, JSON_TYPE).on("drain", more);
    more();
  };

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

const targets = (count: number): RequestListener => {
  const addresses = Array.from({ length: count }, (_, index) => `10.1.0.${index}:80`);
  return (_request, response) => response.writeHead(200, JSON_TYPE).end(JSON.stringify([{ targets: addresses }]));
};
const silence: RequestListener = () => undefined;

const jobs = (url: string) => [
  { job_name: "web", scrape_interval: "1s", http_sd_configs: [{ url, refresh_interval: "1s" }] },
  { job_name: "fixed", scrape_interval: "1s", static_configs: [{ targets: ["10.2.0.1:80", "10.2.0.2:80"] }] },
];

const discovered = (world: FleetWorld, status: string) =>
  eventually(
    async () =>
      expect(await world.read(loadBalancer("sample"))).toMatchObject({
        status: {
          conditions: expect.arrayContaining([expect.objectContaining({ type: "TargetsDiscovered", status })]),
        },
      }),
    30_000,
  );

testSource(
  "a source that answers 500, garbage, nothing or a gigabyte takes no target from anybody",
  async () => {
    await using source = await Source.start(targets(30));
    await using world = await fleetWorld();
    world.load(staticFleet("sample", 0, { replicas: 2, collectorConfig: configuration(jobs(source.url)) }));
    const service = await world.ready();
    const before = await settled(service, path("web"), pods, 30);
    await discovered(world, "True");
    const faults: Readonly<Record<string, RequestListener>> = {
      500: (_request, response) => response.writeHead(500, JSON_TYPE).end("[]"),
      garbage: (_request, response) => response.writeHead(200, JSON_TYPE).end("{ no list"),
      nothing: silence,
      gigabyte: source.endless,
    };
    for (const [name, answer] of Object.entries(faults)) {
      source.answer = answer;
      const { ended } = source;
      await eventually(() => expect(source.ended).toBeGreaterThan(ended + 1), 30_000);
      await discovered(world, "False");
      expect([name, await settled(service, path("web"), pods, 30)]).toEqual([name, before]);
      if (name === "gigabyte") expect(source.sent).toBeLessThan(64 * 2 ** 20);
      source.answer = targets(30);
      await discovered(world, "True");
    }
    expect(peakMemory(service.pid)).toBeLessThan(512 * 2 ** 20);
    source.answer = targets(31);
    await settled(service, path("web"), pods, 31);
  },
  120_000,
);

/** The most memory that a process ever had, in bytes. */
function peakMemory(pid: number): number {
  return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) * 1024;
}

testSource(
  "collectors that poll while the scheduler starts keep all their jobs and targets",
  async () => {
    await using source = await Source.start(targets(30));
    await using world = await fleetWorld();
    const [port = NaN] = await freePorts(1);
    const flags = [`--target-port=${port}`, `--state=sqlite:${join(world.folder, "state.db")}`];
    world.load(staticFleet("sample", 0, { replicas: 2, collectorConfig: configuration(jobs(source.url)) }));
    const first = await world.ready(flags);
    const before = await settled(first, path("web"), pods, 30);
    first.signal("SIGKILL");
    await first.exit;

    source.answer = silence;
    const url = (asked: string) => `http://127.0.0.1:${port}${asked}`;
    const seen = new Map<string, Set<string>>();
    const poll = async (asked: string) => {
      const answer = await fetch(url(asked)).then(
        async (each) => `${each.status} ${await each.text()}`,
        () => "refused",
      );
      seen.set(asked, (seen.get(asked) ?? new Set()).add(answer));
      return answer;
    };
    const asked = ["/scrape_configs", "/jobs", ...pods.flatMap((pod) => [path("web")(pod), path("fixed")(pod)])];
    const end = new AbortController();
    const polling = (async () => {
      while (!end.signal.aborted) {
        for (const each of asked) await poll(each);
        await wait(5);
      }
    })();
    const second = await world.ready(flags);
    const { ended } = source;
    // The source has been asked and has not answered, and the scheduler serves all the same.
    await eventually(() => expect(source.ended).toBeGreaterThan(ended), 30_000);
    await eventually(() => expect(good(seen, "/scrape_configs")).toHaveLength(1), 30_000);
    expect(pods.flatMap((pod) => good(seen, path("web")(pod)))).toEqual([]);
    source.answer = targets(30);
    expect(await settled(second, path("web"), pods, 30)).toEqual(before);
    for (const job of ["web", "fixed"])
      await eventually(() => expect(pods.map((pod) => good(seen, path(job)(pod)).length)).toEqual([1, 1]), 30_000);
    end.abort();
    await polling;

    for (const [each, answers] of seen) {
      // One good answer, which is the whole one; whatever came before it is no list and no map.
      expect([each, good(seen, each).length]).toEqual([each, 1]);
      for (const answer of answers)
        expect(answer).toMatch(/^(200 [[{]|refused|503 [A-Z][^{}[\]]+$|404 [A-Z][^{}[\]]+$)/);
    }
    expect(Object.keys(JSON.parse(good(seen, "/scrape_configs")[0] ?? "{}") as object)).toEqual(["web", "fixed"]);
    expect(pods.flatMap((pod) => addressesIn(good(seen, path("fixed")(pod))[0])).sort()).toEqual([
      "10.2.0.1:80",
      "10.2.0.2:80",
    ]);
  },
  120_000,
);

/** The bodies of answers with the status 200, each once. */
function good(seen: ReadonlyMap<string, ReadonlySet<string>>, asked: string): readonly string[] {
  return [...(seen.get(asked) ?? [])].filter((each) => each.startsWith("200 ")).map((each) => each.slice(4));
}

function addressesIn(body = "[]"): readonly string[] {
  return (JSON.parse(body) as readonly { readonly targets: readonly string[] }[]).flatMap((each) => each.targets);
}

test.concurrent(
  "while the API server is away every target stays served, and what changed meanwhile follows",
  async () => {
    await using world = await fleetWorld();
    const selectors = [{ role: "service", label: "app=web" }];
    const found = { job_name: "web", scrape_interval: "1s", kubernetes_sd_configs: [{ role: "service", selectors }] };
    world.load(staticFleet("sample", 0, { replicas: 2, collectorConfig: configuration([found]) }));
    const addService = (name: string) => world.load(serviceObject(name));
    for (let index = 0; index < 30; index += 1) addService(`web-${index}`);
    const service = await world.ready();
    const before = await settled(service, path("web"), pods, 30);

    world.outage.begin();
    await eventually(async () => {
      const metrics = await (await fetch(await service.url("admin", "/metrics"))).text();
      expect(metrics).toMatch(/leader_election_master_status(\{[^}]*\})? 0\n/);
    }, 30_000);
    addService("late");
    expect(await settled(service, path("web"), pods, 30)).toEqual(before);
    world.outage.end();
    await settled(service, path("web"), pods, 31);
  },
  120_000,
);

function serviceObject(name: string): object {
  const spec = { type: "ClusterIP", clusterIP: "None", ports: [{ port: 80, protocol: "TCP" }] };
  return { apiVersion: "v1", kind: "Service", metadata: { name, namespace: "default", labels: { app: "web" } }, spec };
}
