import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { readmeExample } from "@evenkeel/api/manifests";
import type { ServiceProcess } from "@evenkeel/testkit";
import { secrets } from "@evenkeel/kube";
import { eventually as eventuallyWithin } from "@evenkeel/runtime/testing";
import { type RecordSet, startPrometheus } from "@evenkeel/sim";
import { parse } from "yaml";
import { rebalances, type StoredRebalance } from "../src/rebalance-resource.ts";
import { type Proxy, proxyTo } from "./proxy-to.ts";
import { twoSites, World } from "./world.ts";

/** Milliseconds for what takes a few reconciles, a second apart, on a machine that is busy with other things. */
const LIMIT = 60_000;
const TEST_LIMIT = 2 * LIMIT;
const eventually = <T>(check: () => T | Promise<T>) => eventuallyWithin(check, LIMIT);

const CROWD = Array.from({ length: 20 }, (_empty, index) => `s${index}.example.com`);
const LONE = ["dotted", "typed", "failing", "misspelt", "quiet", "followed"].map((name) => `${name}.example.com`);

/** Other records of defect 7: of another type, without an identifier, without a weight. */
const STRANGERS: readonly RecordSet[] = [
  { name: "example.com", type: "TXT", ttl: 60, values: ['"v=spf1 -all"'] },
  { name: "typed.example.com", type: "AAAA", setIdentifier: "blue", weight: 5, ttl: 60, values: ["2001:db8::1"] },
  { name: "plain.example.com", type: "A", ttl: 60, values: ["192.0.2.3"] },
];

/**
 * Defects of the original rebalancer that a running service shows; those that are decided alone are in `src/decide`.
 */
describe("the original's defect", () => {
  let world: World;
  let proxy: Proxy;
  let service: ServiceProcess;

  beforeAll(async () => {
    world = await World.start([...[...LONE, ...CROWD].flatMap(twoSites), ...STRANGERS]);
    proxy = await proxyTo(world.prometheus.url);
    const env = { HTTP_PROXY: proxy.url, NO_PROXY: "127.0.0.1", AWS_ENDPOINT_URL_ROUTE_53: world.route53.url };
    service = world.serve([], { env: { ...process.env, ...env } });
    await service.phase("ready");
  }, TEST_LIMIT);
  afterAll(async () => {
    proxy.close();
    await world[Symbol.asyncDispose]();
  });

  /** Makes a query that has the value that `value` gives when it is asked. */
  function answer(query: string, value: () => number): { readonly prometheus: { address: string; query: string } } {
    world.prometheus.answer(query, () => ({ kind: "vector", samples: [{ metric: {}, value: value() }] }));
    return { prometheus: { address: world.prometheus.url, query } };
  }

  /** A target with the record's name or identifier changed. */
  function target(resource: { name: string; identifier?: string }): object {
    const { route53 } = world.spec()["target"] as { route53: { resource: object } };
    return { route53: { ...route53, resource: { ...route53.resource, ...resource } } };
  }

  const conditionOf = async (name: string, type: string) =>
    (await world.get(name)).status?.conditions?.find((each) => each.type === type);

  const weight = (name: string, type = "A") =>
    world.route53
      .records("Z1")
      .find(
        (record) => record.type === type && record.setIdentifier === "blue" && record.name.replace(/\.$/, "") === name,
      )?.weight;

  /** Lines of the metrics page about an object. */
  const seriesOf = async (name: string) =>
    (await (await fetch(await service.url("admin", "/metrics"))).text())
      .split("\n")
      .filter((line) => line.includes(`name="${name}"`));

  const shows = async (name: string, ...lines: readonly RegExp[]) =>
    expect(await seriesOf(name)).toEqual(expect.arrayContaining(lines.map((line) => expect.stringMatching(line))));

  /** Takes the object away, so that it does not disturb the next test. */
  const remove = (name: string) => world.kube.resource(rebalances).delete({ namespace: "default", name });

  test.concurrent(
    "1, that its README's example cannot work: a vector of one sample is a number",
    async () => {
      const site = (setIdentifier: string, weight: number): RecordSet => {
        return { name: "example.com", type: "A", setIdentifier, weight, ttl: 60, values: ["192.0.2.1"] };
      };
      world.route53.addZone("XXXXXXXXXX", "example.com", [site("onpremises", 8), site("aws", 3)]);
      const example = parse(readmeExample) as StoredRebalance & {
        readonly spec: { readonly metrics: { readonly prometheus: { readonly query: string } } };
      };
      answer(example.spec.metrics.prometheus.query, () => 3000);
      const metadata = { namespace: "default", name: "rebalancer-aws-secret" };
      const data = { "access-key": btoa("AKIATEST"), "secret-access-key": btoa("secret") };
      await world.kube.resource(secrets).create({ metadata, data });
      await world.kube
        .resource(rebalances)
        .create({ ...example, metadata: { ...example.metadata, namespace: "default" } });
      await eventually(async () =>
        expect((await world.get("aws-env")).status).toMatchObject({ desiredValue: 16, actualValue: 3 }),
      );
      expect(await conditionOf("aws-env", "Ready")).toMatchObject({ status: "True" });
      await remove("aws-env");
    },
    TEST_LIMIT,
  );

  test.concurrent(
    "6, that a name with a trailing dot is never found",
    async () => {
      await world.create("dotted", { target: target({ name: "dotted.example.com." }) });
      await eventually(() => expect(weight("dotted.example.com")).toBe(16));
      await remove("dotted");
    },
    TEST_LIMIT,
  );

  test.concurrent(
    "7, that a record of another type is taken, and that one without identifier or weight ends the process",
    async () => {
      let load = 3000;
      await world.create("apex", { target: target({ name: "example.com", identifier: "nobody" }) });
      await world.create("plain", { target: target({ name: "plain.example.com" }) });
      await world.create("typed", {
        target: target({ name: "typed.example.com" }),
        metrics: answer("typed", () => load),
      });
      await eventually(() => expect(weight("typed.example.com")).toBe(16));
      for (const [name, record, reason] of [
        ["apex", "example.com A nobody", "Route53NoRecord"],
        ["plain", "plain.example.com A blue", "Route53NotWeighted"],
      ] as const) {
        await eventually(async () =>
          expect(await conditionOf(name, "TargetSynced")).toMatchObject({
            status: "False",
            reason,
            message: expect.stringContaining(record),
          }),
        );
      }
      load = 2000;
      await eventually(() => expect(weight("typed.example.com")).toBe(8));
      expect(weight("typed.example.com", "AAAA")).toBe(5);
      await Promise.all(["apex", "plain", "typed"].map(remove));
    },
    TEST_LIMIT,
  );

  test.concurrent(
    "8, that errors reach neither status nor metrics, and that series of a deleted object stay",
    async () => {
      const dying = await startPrometheus();
      dying.answer("failing", () => ({ kind: "vector", samples: [{ metric: {}, value: 3000 }] }));
      const metrics = { prometheus: { address: dying.url, query: "failing" } };
      await world.create("failing", { target: target({ name: "failing.example.com" }), metrics });
      await eventually(() =>
        shows(
          "failing",
          /^rebalancer_error\{.*\} 0$/,
          /^rebalancer_healthy\{.*\} 1$/,
          /^rebalancer_desired\{.*\} 16$/,
          /^rebalancer_actual\{.*\} 16$/,
        ),
      );
      await dying.stop();
      await eventually(async () => {
        expect((await world.get("failing")).status).toMatchObject({ condition: "Error" });
        expect(await conditionOf("failing", "MetricsAvailable")).toMatchObject({
          status: "False",
          reason: "QueryFailed",
        });
        await shows("failing", /^rebalancer_error\{.*\} 1$/, /^rebalancer_healthy\{.*\} 0$/);
      });
      await remove("failing");
      await eventually(async () => expect(await seriesOf("failing")).toEqual([]));
    },
    TEST_LIMIT,
  );

  test.concurrent(
    "8, that errors do not reach metrics: an object with an invalid edit fails, and is no longer healthy",
    async () => {
      await world.create("misspelt", { target: target({ name: "misspelt.example.com" }) });
      await eventually(() => shows("misspelt", /^rebalancer_error\{.*\} 0$/, /^rebalancer_healthy\{.*\} 1$/));
      const body = { spec: { policy: { targettracking: { timeZone: "Mars/Olympus" } } } };
      await world.kube.resource(rebalances).patch({ namespace: "default", name: "misspelt" }, { type: "merge", body });
      await eventually(async () => {
        await shows("misspelt", /^rebalancer_error\{.*\} 1$/, /^rebalancer_healthy\{.*\} 0$/);
        expect(await conditionOf("misspelt", "Ready")).toMatchObject({ status: "False", reason: "InvalidSpec" });
      });
      await remove("misspelt");
    },
    TEST_LIMIT,
  );

  test.concurrent(
    "9, that the status is written at each reconcile",
    async () => {
      let reads = 0;
      // The load goes up and down by less than what makes another weight.
      const metrics = answer("quiet", () => 2990 + (reads++ % 5));
      await world.create("quiet", { target: target({ name: "quiet.example.com" }), metrics });
      await eventually(async () => {
        expect(await conditionOf("quiet", "TargetSynced")).toMatchObject({ status: "True" });
        expect(await conditionOf("quiet", "Ready")).toMatchObject({ reason: "InStep" });
      });
      const settled = await world.get("quiet");
      const seen = reads;
      await eventually(() => expect(reads).toBeGreaterThanOrEqual(seen + 4));
      expect((await world.get("quiet")).metadata.resourceVersion).toBe(settled.metadata.resourceVersion);
      await remove("quiet");
    },
    TEST_LIMIT,
  );

  test.concurrent(
    "13, that a change is not followed until it is in effect",
    async () => {
      await world.create("followed", { target: target({ name: "followed.example.com" }) });
      await eventually(async () =>
        expect(await conditionOf("followed", "TargetSynced")).toMatchObject({ status: "Unknown", reason: "Pending" }),
      );
      expect(weight("followed.example.com")).toBe(16);
      await eventually(async () =>
        expect(await conditionOf("followed", "TargetSynced")).toMatchObject({ status: "True", reason: "InSync" }),
      );
      await remove("followed");
    },
    TEST_LIMIT,
  );

  // It counts the calls of all objects, so that it runs alone, when those before it have ended.
  test(
    "11, that one dead Prometheus delays all objects, and that each object costs calls of its own",
    async () => {
      const dead = await startPrometheus();
      dead.faults.add({ fault: { kind: "hang" } });
      let [load, turns, calls] = [3000, 0, 0];
      const count = () => {
        calls += 1;
        return false;
      };
      const forget = world.route53.faults.add({ fault: { kind: "latency", milliseconds: 0 }, when: count });
      const stuck = CROWD.slice(0, 10);
      const lively = CROWD.slice(10);
      try {
        const never = { prometheus: { address: dead.url, query: "up", timeout: 600 } };
        for (const name of stuck) await world.create(name, { target: target({ name }), metrics: never });
        const metrics = answer("lively", () => load);
        answer("counted", () => (turns++, load));
        for (const name of lively) await world.create(name, { target: target({ name }), metrics });
        const counted = { prometheus: { ...metrics.prometheus, query: "counted" } };
        await world.create("counted", {
          target: target({ name: "followed.example.com" }),
          metrics: counted,
          dryRun: true,
        });
        const each = (names: readonly string[]) => names.map((name) => weight(name));
        const every = (value: number) => Array.from({ length: 10 }, () => value);
        await eventually(() => expect(each(lively)).toEqual(every(16)));
        const before = { turns, calls };
        load = 2000;
        await eventually(() => expect(each(lively)).toEqual(every(8)));
        await eventually(() => expect(turns).toBeGreaterThanOrEqual(before.turns + 4));
        // All of this went on while ten queries, the first of their objects, were under way.
        for (const name of stuck) expect((await world.get(name)).status).toBeUndefined();
        // The original reads twice for each of the eleven in every turn, and twice more to change one.
        expect(calls - before.calls).toBeLessThan(8 * (turns - before.turns));
      } finally {
        forget();
        await dead.stop();
        await Promise.all([...CROWD, "counted"].map(remove));
      }
    },
    TEST_LIMIT,
  );
});
