import { setTimeout as pause } from "node:timers/promises";
import { kubectl, TEST_TIMEOUT_MS, useCluster } from "@evenkeel/e2e";
import { type ServiceProcess } from "@evenkeel/testkit";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { LONGEST_WATCH_WAIT } from "../src/observe/cluster-view.ts";
import { type Answer, arrivalIn, ask } from "./ask.ts";
import { type Cluster, Site } from "./site.ts";

/** The full minute is for `SOAK=1`, as in `make soak`: watches are then opened again after their longest wait. */
const IN_SOAK = process.env["SOAK"] === "1";
/** How long the API server is away. */
const AWAY_MS = IN_SOAK ? 60_000 : 9000;
/** Interval between two clients during that time. */
const EVERY_MS = AWAY_MS / 12;
/**
 * How long requests of an impatient service may wait, in seconds, and how late their refusal may be, in milliseconds.
 */
const IMPATIENT_S = AWAY_MS / 6000;
const LATE_MS = 2000;

/** How soon the resolver scales once the API server is back. */
const SOON_MS = 5000;
/**
 * How soon it answers once a pod is ready: a watch that was refused for a minute is opened again after its longest
 * wait.
 */
const HEARD_MS = LONGEST_WATCH_WAIT + SOON_MS;

interface Fault {
  readonly fault: string;
  readonly begin: (cluster: Cluster) => unknown;
  readonly end: (cluster: Cluster) => unknown;
  /** Has the rest of Kubernetes go on at once. */
  readonly rouse: (cluster: Cluster) => unknown;
}

const OTHERS = ["kube-controller-manager", "kube-scheduler", "kwok"] as const;

const FAULTS: readonly Fault[] = [
  {
    fault: "hangs",
    begin: (cluster) => cluster.pause("kube-apiserver"),
    end: (cluster) => cluster.resume("kube-apiserver"),
    rouse: (cluster) => cluster.resume("kube-controller-manager"),
  },
  {
    fault: "is killed",
    // The others are killed and restarted too: after a minute of refused connections they would wait another minute
    // before a retry.
    begin: (cluster) => Promise.all((["kube-apiserver", ...OTHERS] as const).map((one) => cluster.kill(one))),
    end: (cluster) => cluster.restart("kube-apiserver"),
    rouse: async (cluster) => {
      // A new KWOK manages a node only after the Lease of the former one has expired, which takes 40 s.
      await kubectl(cluster, ["delete", "leases", "--namespace=kube-node-lease", "--all"]);
      await Promise.all(OTHERS.map((one) => cluster.restart(one)));
    },
  },
];

interface Told extends Answer {
  readonly milliseconds: number;
}

/** Requests of one service, each on a connection of its own with a path of its own, and each sent once. */
class Clients {
  readonly answers: Promise<Told>[] = [];
  answered = 0;
  readonly #site: Site;
  readonly #name: string;
  readonly #url: string;

  constructor(site: Site, name: string, url: string) {
    this.#site = site;
    this.#name = name;
    this.#url = url;
  }

  come(count = 1): void {
    for (let one = 0; one < count; one++) this.answers.push(this.#ask());
  }

  /** Every response came from the service's only pod, which got each request once. */
  async areServed(): Promise<void> {
    const arrivals = (await Promise.all(this.answers)).map(arrivalIn);
    const paths = arrivals.map(({ path }) => path);
    expect(paths).toEqual(arrivals.map((_, index) => this.#path(index)));
    expect(arrivals.map(({ method, bytes }) => [method, bytes])).toEqual(paths.map((path) => ["POST", path.length]));
    expect([...new Set(arrivals.map(({ pod }) => pod))]).toEqual(await this.#site.podsOf(this.#name));
    expect(paths.map((path) => this.#site.pods.arrivalsAt(path).length)).toEqual(paths.map(() => 1));
  }

  async #ask(): Promise<Told> {
    const path = this.#path(this.answers.length);
    const from = performance.now();
    const answer = await ask(this.#url + path, { body: path });
    this.answered += 1;
    return { ...answer, milliseconds: performance.now() - from };
  }

  #path(index: number): string {
    return `/${this.#name}/${index}`;
  }
}

// A cluster for each: after a minute without contact a cluster removes nodes with their pods, and KWOK does not make
// them ready again.
describe.each(FAULTS)(
  `an API server that $fault for ${AWAY_MS / 1000} s during a wake`,
  ({ fault, begin, end, rouse }) => {
    let site: Site;
    let resolver: ServiceProcess;

    // Before the cluster stops, which is next.
    afterAll(async () => {
      await resolver[Symbol.asyncDispose]();
      await site[Symbol.asyncDispose]();
    }, TEST_TIMEOUT_MS);

    const cluster = useCluster({ name: "scale-resolver-outage", nodes: 2 });

    beforeAll(async () => {
      site = await Site.start(cluster());
      resolver = await site.serve({ namespace: "resolver" });
      await resolver.phase("ready");
    }, TEST_TIMEOUT_MS);

    test(
      "delays the answers: requests that came before and meanwhile wait for it and none is lost, and those that may not wait so long are refused in time",
      async () => {
        // A service with a pod that is about to be created, one without requests so far, and one with a short hold
        // timeout.
        const names = ["begun", "untouched", "impatient"] as const;
        const [begun, untouched, impatient] = await Promise.all(
          names.map(async (name) => {
            const hold = name === names[2] ? { hold: { timeout: `${IMPATIENT_S}s` } } : {};
            return new Clients(site, name, await site.given(name, hold));
          }),
        );
        if (!begun || !untouched || !impatient) throw new Error("there are three");
        await site.sleepByHand(...names);

        cluster().pause("kube-controller-manager");
        begun.come();
        await site.until("the first request to have scaled its workload", async () => {
          const replicas = await site.replicas(names[0]);
          return replicas === 1 ? undefined : `it has ${replicas}`;
        });
        await begin(cluster());
        untouched.come(20);
        for (let past = 0; past < AWAY_MS; past += EVERY_MS) {
          for (const clients of [begun, untouched]) clients.come();
          // The last of them time out before the outage ends.
          if (past < AWAY_MS / 2) impatient.come();
          await pause(EVERY_MS);
        }

        // Still in the time without an API server.
        expect([begun.answered, untouched.answered]).toEqual([0, 0]);
        expect(impatient.answered).toBe(impatient.answers.length);
        for (const { status, headers, body, milliseconds } of await Promise.all(impatient.answers)) {
          expect({ status, headers, body }).toMatchObject({
            ...{ status: 503, headers: { "retry-after": "5", "x-evenkeel-cold-start": "true" } },
            body: expect.stringContaining("EK_RESOLVER_NOT_AWAKE") as unknown,
          });
          expect(milliseconds).toBeGreaterThanOrEqual(IMPATIENT_S * 1000);
          expect(milliseconds).toBeLessThan(IMPATIENT_S * 1000 + LATE_MS);
        }

        await end(cluster());
        const back = performance.now();
        const since = () => Math.round(performance.now() - back);
        await site.until("the workload of those who came meanwhile to be scaled", async () => {
          const replicas = await site.replicas(names[1]);
          return replicas === 1 ? undefined : `it has ${replicas}`;
        });
        const scaled = since();
        await rouse(cluster());
        await Promise.all(names.slice(0, 2).map((name) => site.hasReadyEndpoint(name)));
        const ready = since();
        await untouched.areServed();
        await begun.areServed();
        const answered = since();
        process.stderr.write(
          `  it ${fault}: ${scaled} ms after it was back the workload was scaled, after ${ready} its pod was ready, after ${answered} all were answered\n`,
        );
        expect(scaled).toBeLessThan(SOON_MS);
        expect(answered - ready).toBeLessThan(HEARD_MS);
        expect(site.pods.arrivals.filter(({ path }) => path.startsWith(`/${names[2]}/`))).toEqual([]);

        for (const name of names.slice(0, 2)) await site.outOfPath(name);
        expect(await Promise.race([resolver.exit, Promise.resolve("it runs")])).toBe("it runs");
      },
      4 * TEST_TIMEOUT_MS,
    );
  },
);
