import { setTimeout as pause } from "node:timers/promises";
import { Release } from "@evenkeel/charts";
import { TEST_TIMEOUT_MS } from "@evenkeel/e2e";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { describeOnRealNode, NODE_IMAGE, writeServiceImage } from "../src/index.ts";
import { anyTcpCases } from "./traffic/any-tcp.ts";
import { IDLE, type Tally } from "./traffic/programs.ts";
import { TrafficSite } from "./traffic/traffic-site.ts";

/** Whether each scenario gets 10,000 requests, as in `make soak-real-node`. */
const IN_SOAK = process.env["SOAK"] === "1";
const COUNT = IN_SOAK ? 10_000 : 300;
const RATE = IN_SOAK ? 100 : 20;
/** Requests per second to a pod that the kubelet evicts, which it does up to ten seconds after there is a reason. */
const BEFORE_EVICTION = IN_SOAK ? 50 : 15;
/** Requests per second to a Service with a resolver that was killed: they go on after another one leads. */
const AFTER_KILL = IN_SOAK ? 50 : 15;
/**
 * Milliseconds for which a pod serves after SIGTERM where it ends before the resolver is in the path. Two seconds are
 * enough on a node; on a machine that runs other tests too, kube-proxy and the resolver may get no CPU for that long.
 */
const DRAIN = IN_SOAK ? 2000 : 6000;
/** Milliseconds after which a pod listens, so that it does not replace one that drains without requests being held. */
const LATE = DRAIN + 2000;
/** Milliseconds from a change of an EndpointSlice until the node has followed it. */
const FOLLOWED = IN_SOAK ? 3000 : 5000;
/** Local ports that the kernel does not choose: 15,000 connections of one client to one Service have different ones. */
const FIRST_PORT = 10_000;
const TIMEOUT = IN_SOAK ? 1_800_000 : 2 * TEST_TIMEOUT_MS;

/** What became of each scenario's requests, for the table at the end. */
const results = new Map<string, Tally>();

function note(scenario: string, ...tallies: readonly Tally[]): Readonly<Record<string, number>> {
  const lost: Record<string, number> = {};
  for (const tally of tallies)
    for (const [why, times] of Object.entries(tally.lost)) lost[why] = (lost[why] ?? 0) + times;
  const greatest = (of: (tally: Tally) => number) => Math.max(...tallies.map(of));
  const asked = tallies.reduce((sum, tally) => sum + tally.asked, 0);
  const lostAt = tallies.flatMap((tally) => tally.lostAt);
  if (lostAt.length > 0) {
    const [first = 0, last = 0] = [Math.min(...lostAt), Math.max(...lostAt)].map((at) => new Date(at).toISOString());
    process.stderr.write(`${scenario}: ${lostAt.length} lost that were sent from ${first} to ${last}\n`);
  }
  results.set(scenario, {
    ...{ asked, lost, lostAt },
    ...{
      p50: greatest(({ p50 }) => p50),
      p99: greatest(({ p99 }) => p99),
      longest: greatest(({ longest }) => longest),
    },
  });
  return lost;
}

/** Prints how long after a kill something happened. */
function tell(what: string, milliseconds: number): void {
  process.stderr.write(`${what} ${(milliseconds / 1000).toFixed(1)} s after the kill\n`);
}

/** Does something every 20 seconds while requests are under way, at least once and not more often than `most`. */
async function during(load: Promise<Tally>, act: () => Promise<void>, most = Infinity): Promise<Tally> {
  for (let times = 0; times < most; times++) {
    const tally = await Promise.race([load, pause(times === 0 ? 3000 : 20_000)]);
    if (tally !== undefined) return tally;
    await act();
  }
  return load;
}

/** Runs tasks one after the other, in the order in which they are given. */
function inOrder(): (task: () => Promise<void>) => Promise<void> {
  let before: Promise<unknown> = Promise.resolve();
  return (task) => {
    const run = before.then(task);
    before = run.catch(() => undefined);
    return run;
  };
}

describeOnRealNode("requests from another pod through kube-proxy", (cluster) => {
  let release: Release;
  let site: TrafficSite;
  /** Another resolver of one replica. */
  let lone: TrafficSite;
  /** A resolver of two replicas that share a Redis. */
  let pair: TrafficSite;
  beforeAll(async () => {
    await cluster().loadImage(writeServiceImage("scale-resolver"));
    release = await Release.prepare(cluster());
    [site, lone, pair] = await Promise.all([
      TrafficSite.start(cluster(), release, { namespace: "traffic" }),
      TrafficSite.start(cluster(), release, { namespace: "lone", isFurther: true }),
      TrafficSite.start(cluster(), release, { namespace: "pair", isFurther: true, isPair: true }),
    ]);
  }, 2 * TEST_TIMEOUT_MS);
  afterAll(async () => {
    release[Symbol.dispose]();
    await Promise.all([site.stop(), lone.stop(), pair.stop()]);
    const rows = [...results].map(([scenario, { asked, lost, p50, p99, longest }]) => {
      const count = Object.values(lost).reduce((sum, one) => sum + one, 0);
      return [scenario, asked, count === 0 ? 0 : `${count} ${JSON.stringify(lost)}`, p50, p99, longest].join(" | ");
    });
    process.stderr.write(
      `\n| ${["scenario | requests | lost | p50 ms | p99 ms | longest ms", ...rows].join(" |\n| ")} |\n`,
    );
  });

  describe("are all answered", () => {
    /**
     * Milliseconds for which requests may be lost when the last pod stops serving without notice: until the kubelet has
     * reported it and kube-proxy has followed. Only `make soak-real-node` has the machine to itself.
     */
    const UNNOTICED = IN_SOAK ? 2000 : Infinity;

    /**
     * Requests while the last pod of a service stops serving without notice, and another is not ready for long. They
     * are lost at first, and held long before a pod is ready again.
     */
    async function whileGone(
      scenario: string,
      name: string,
      count: number,
      stopServing: () => Promise<void>,
    ): Promise<void> {
      const gone: { readonly from: number; readonly redirected: number; readonly to: number }[] = [];
      const load = site.load(name, { count, rate: BEFORE_EVICTION, patience: 25_000, firstPort: FIRST_PORT });
      const stop = async () => {
        const from = Date.now();
        await stopServing();
        const redirected = await site.redirected(name);
        gone.push({ from, redirected, to: await site.readySince(name, from) });
      };
      const tally = await during(load, stop, IN_SOAK ? Infinity : 1);
      note(scenario, tally);
      const lossesOf = (from: number, to: number) => tally.lostAt.filter((at) => from <= at && at < to);
      const explained = gone.flatMap(({ from, to }) => lossesOf(from, to));
      expect(tally.lostAt.filter((at) => !explained.includes(at))).toEqual([]);
      for (const { from, redirected, to } of gone) {
        const losses = lossesOf(from, to);
        expect(Math.max(0, ...losses) - Math.min(Infinity, ...losses)).toBeLessThanOrEqual(UNNOTICED);
        // What comes after that waits for the pod.
        expect(to - redirected).toBeGreaterThan(FOLLOWED);
        expect(lossesOf(redirected + FOLLOWED, to)).toEqual([]);
      }
    }

    test.concurrent(
      "but for seconds, where the kubelet evicts the last pod, which has one second to drain",
      async () => {
        await site.service("evicted", { start: 15_000 });
        let evictions = 0;
        await whileGone("eviction by the kubelet", "evicted", COUNT, async () => {
          await site.askPod("evicted", "/fill");
          await site.evictions("evicted", ++evictions);
        });
      },
      TIMEOUT,
    );

    test.concurrent(
      "while the last pod says that it is not ready",
      async () => {
        await site.service("flaps", { flaps: true });
        const load = site.load("flaps", { count: COUNT, rate: RATE / 2 });
        const flap = async () => {
          await site.askPod("flaps", "/flap");
        };
        const tally = await during(load, flap, IN_SOAK ? Infinity : 1);
        expect(note("readiness of the last pod flaps", tally)).toEqual({});
        await site.hasHeld("flaps");
      },
      TIMEOUT,
    );

    test.concurrent(
      "that come at once to a service at zero",
      async () => {
        await site.service("burst", { replicas: 0 });
        const rounds = IN_SOAK ? 10 : 1;
        const tallies: Tally[] = [];
        for (let round = 0; round < rounds; round++) {
          tallies.push(await site.load("burst", { count: COUNT / rounds, rate: 0, body: 20_000 }));
          await site.scale("burst", 0);
          await site.isIn("burst", "Zero");
        }
        expect(note("burst at zero", ...tallies)).toEqual({});
        const labels = { service: "burst", phase: "connect" };
        const seconds = await site.metric("evenkeel_resolver_wake_seconds_sum", labels);
        const wakes = await site.metric("evenkeel_resolver_wake_seconds_count", labels);
        process.stderr.write(`ready → first byte: ${Math.round((seconds / wakes) * 1000)} ms, mean of ${wakes}\n`);
        expect(wakes).toBeGreaterThanOrEqual(rounds);
      },
      TIMEOUT,
    );

    test.concurrent(
      "of clients that keep their connections while the service falls asleep and wakes",
      async () => {
        await site.service("kept", { sleeps: true, drain: DRAIN });
        // Half of it is enough to fall asleep on a machine that runs other tests too.
        const milliseconds = IN_SOAK ? 9000 : 24_000;
        const load = { count: COUNT, rate: 200, kept: 20, pause: { every: IN_SOAK ? 200 : 100, milliseconds } };
        expect(note("keep-alive over sleeps", await site.load("kept", load))).toEqual({});
        const wakes = await site.metric("evenkeel_resolver_wakes_total", { service: "kept" });
        expect(wakes).toBeGreaterThanOrEqual(IN_SOAK ? 5 : 1);
      },
      TIMEOUT,
    );

    test.concurrent(
      "while the last pod is deleted",
      async () => {
        await site.service("deleted", { start: LATE, drain: DRAIN });
        const load = site.load("deleted", { count: COUNT, rate: RATE });
        expect(note("last pod deleted", await during(load, () => site.deletePods("deleted")))).toEqual({});
        await site.hasHeld("deleted");
      },
      TIMEOUT,
    );

    test.concurrent(
      "while somebody scales the workload to zero",
      async () => {
        // It would serve for longer, and is killed when its grace period has passed.
        await site.service("scaled", { start: LATE, drain: 5 * DRAIN, grace: DRAIN / 1000 });
        const load = site.load("scaled", { count: COUNT, rate: RATE });
        expect(note("scaled to 0 by hand", await during(load, () => site.scale("scaled", 0)))).toEqual({});
        await site.hasHeld("scaled");
      },
      TIMEOUT,
    );

    test.concurrent(
      "while pods start slowly",
      async () => {
        await site.service("slow", { replicas: 0, start: 6000 });
        expect(note("slow start", await site.load("slow", { count: COUNT, rate: RATE }))).toEqual({});
      },
      TIMEOUT,
    );

    test.concurrent(
      "to a NodePort of a service at zero",
      async () => {
        await site.service("outside", { replicas: 0, type: "NodePort" });
        const url = await site.nodePort("outside");
        expect(note("NodePort at zero", await site.load("outside", { url, count: COUNT, rate: 2 * RATE }))).toEqual({});
      },
      TIMEOUT,
    );

    test.concurrent(
      "from the network of the node to a service at zero, and from the service's own pod",
      async () => {
        await site.service("near", { replicas: 0 });
        await site.clientPod("on-node", {
          hostNetwork: true,
          containers: [{ name: "client", image: NODE_IMAGE, args: ["-e", IDLE] }],
        });
        const load = { count: 100, rate: 2 * RATE };
        expect(note("from the node at zero", await site.load("near", { ...load, from: "on-node" }))).toEqual({});
        await site.hasHeld("near");
        const itself = await site.load("near", { ...load, from: "deployment/near" });
        expect(note("from the service's own pod", itself)).toEqual({});
      },
      TIMEOUT,
    );

    test.concurrent(
      "of a service with few of them, which is not redirected to and fro",
      async () => {
        await site.service("few", { sleeps: true });
        const seconds = IN_SOAK ? 120 : 15;
        expect(
          note("2 per second below the threshold", await site.load("few", { count: 2 * seconds, rate: 2 })),
        ).toEqual({});
        const switches = { source: "few", enabled: "true" };
        const joins = await site.metric("elasti_resolver_traffic_switch_count", switches);
        expect(joins).toBeGreaterThanOrEqual(1);
        expect(joins).toBeLessThanOrEqual(IN_SOAK ? 8 : 5);
        // A pod gets one only if a connection of the client arrives at the resolver just when a probe expects its own.
        expect(Number(await site.askPod("few", "/probes"))).toBeLessThanOrEqual(1);
      },
      TIMEOUT,
    );

    test.concurrent(
      "while the ElastiService is deleted, with requests held, and created again",
      async () => {
        await site.service("released", { replicas: 0, start: 6000 });
        const load = site.load("released", { count: COUNT, rate: RATE });
        const tally = await during(load, () => site.manageAgain("released"));
        expect(note("ElastiService deleted", tally)).toEqual({});
      },
      TIMEOUT,
    );

    anyTcpCases({ site: () => site, note, timeout: TIMEOUT });
  });

  describe("while resolvers stop", () => {
    /** The cases of one release run one after the other, those of different ones at the same time. */
    const ofOne = inOrder();
    const ofTwo = inOrder();

    test.concurrent(
      "are all answered while the resolver is restarted, also those that it holds",
      () =>
        ofOne(async () => {
          await site.service("rolled", { replicas: 0, start: 14_000 });
          await site.service("rolled-warm", { replicas: 0, start: 500, drain: DRAIN });
          const [old = ""] = await site.resolverPods();
          const held = site.load("rolled", { count: 50, rate: 0 });
          await site.holds("rolled", 50);
          const terminated = site.terminates(old);
          const answered = held.then(() => Date.now());
          // The last pod terminates just when another resolver becomes the leader.
          const load = during(site.load("rolled-warm", { count: COUNT, rate: RATE }), async () => {
            await site.resolver("rollout", "restart", "deployment/scale-resolver");
            await site.resolver("rollout", "status", "deployment/scale-resolver", "--timeout=90s");
            await site.scale("rolled-warm", 0);
          });
          expect(note("rolling restart, 50 held", await held, await load)).toEqual({});
          expect(await terminated).toBeLessThan(await answered);
        }),
      TIMEOUT,
    );

    test.concurrent(
      "are lost with a resolver whose pod is gone: those that it held, and new ones until another leads",
      async () => {
        await lone.service("killed", { replicas: 0, start: 4000 });
        const before = await lone.resolverPods();
        const held = lone.load("killed", { count: 50, rate: 0, patience: 20_000 });
        await lone.holds("killed", 50);
        const killedAt = Date.now();
        for (const pod of before) await lone.removeResolver(pod);
        const options = { count: COUNT, rate: AFTER_KILL, patience: 15_000, firstPort: FIRST_PORT };
        const load = await lone.load("killed", options);
        note("pod of the resolver gone: 50 held", await held);
        note("pod of the resolver gone: new requests", load);
        const led = await lone.ledSince(killedAt);
        tell("another led", led - killedAt);
        // The Lease of the killed one lasts 15 s, and another pod starts meanwhile.
        expect(led - killedAt).toBeLessThanOrEqual(30_000);
        expect(Math.max(0, ...load.lostAt) - led).toBeLessThanOrEqual(5000);
        expect((await lone.load("killed", { count: 20, rate: RATE })).lost).toEqual({});
      },
      TIMEOUT,
    );

    test.concurrent(
      "are refused at once, and do not wait, after the last resolver was scaled away",
      () =>
        ofOne(async () => {
          await site.service("left", { replicas: 0 });
          // Its requests pass the resolver until it has left the path of a service that was just woken.
          await site.service("left-warm", { replicas: 0 });
          const warm = site.load("left-warm", { count: 200, rate: RATE });
          await site.resolver("scale", "deployment/scale-resolver", "--replicas=0");
          await site.resolver(
            "wait",
            "--for=delete",
            "pods",
            "-l",
            "app.kubernetes.io/name=scale-resolver",
            "--timeout=90s",
          );
          // The kernel limits how often a node says that a port is unreachable, to one second per client after a few.
          const refused = await site.load("left", { count: 5, rate: 1, patience: 20_000 });
          expect(refused.lost).toEqual({ ECONNREFUSED: 5 });
          expect(refused.longest).toBeLessThan(3000);
          expect(note("last resolver scaled away, service woken", await warm)).toEqual({});
          await site.resolver("scale", "deployment/scale-resolver", "--replicas=1");
          await site.resolver("rollout", "status", "deployment/scale-resolver", "--timeout=90s");
          const ready = Date.now();
          await site.isFollowed("left");
          expect(Date.now() - ready).toBeLessThanOrEqual(FOLLOWED);
          expect(note("after the last resolver came back", await site.load("left", { count: 50, rate: RATE }))).toEqual(
            {},
          );
        }),
      TIMEOUT,
    );

    test.concurrent(
      "are all answered while both are restarted, also those that they hold",
      () =>
        ofTwo(async () => {
          await pair.service("pair", { replicas: 0, start: 20_000 });
          await pair.service("pair-warm", { replicas: 0, start: 500, drain: DRAIN });
          const old = await pair.resolverPods();
          const held = pair.load("pair", { count: 100, rate: 0 });
          await pair.holds("pair", 100);
          const terminated = Promise.all(old.map((pod) => pair.terminates(pod)));
          const answered = held.then(() => Date.now());
          const load = during(pair.load("pair-warm", { count: COUNT, rate: RATE }), async () => {
            await pair.resolver("rollout", "restart", "deployment/scale-resolver");
            await pair.resolver("rollout", "status", "deployment/scale-resolver", "--timeout=120s");
          });
          expect(note("rolling restart of two, 100 held", await held, await load)).toEqual({});
          expect(Math.max(...(await terminated))).toBeLessThan(await answered);
        }),
      TIMEOUT,
    );

    test.concurrent(
      "are lost with a killed leader: those that it held, and new ones until its container runs again",
      () =>
        ofTwo(async () => {
          await pair.service("halved", { replicas: 0, start: 6000 });
          const { leader } = await pair.leads();
          const held = pair.load("halved", { count: 100, rate: 0, patience: 30_000 });
          await pair.holds("halved", 100);
          const heldByLeader = await pair.held("halved", [leader]);
          const killedAt = Date.now();
          await pair.killResolver(leader);
          const options = { count: COUNT, rate: AFTER_KILL, patience: 30_000, firstPort: FIRST_PORT };
          const load = await pair.load("halved", options);
          note("leader of two killed: 100 held", await held);
          note("leader of two killed: new requests", load);
          const lost = Object.values((await held).lost).reduce((sum, one) => sum + one, 0);
          expect(heldByLeader).toBeLessThan(100);
          expect(lost).toBeGreaterThan(0);
          expect(lost).toBeLessThanOrEqual(heldByLeader);
          const runs = await pair.resolverReadySince(leader, killedAt);
          const last = Math.max(killedAt, ...load.lostAt);
          tell("its container was ready", runs - killedAt);
          tell("the last request was lost", last - killedAt);
          expect(last - runs).toBeLessThanOrEqual(FOLLOWED);
          expect((await pair.load("halved", { count: 20, rate: RATE })).lost).toEqual({});
          expect((await pair.leads()).leader).not.toBe("");
        }),
      TIMEOUT,
    );
  });
});
