import { parseAddress, type Query, type QueryOutcome } from "@evenkeel/prometheus";
import { eventually, FakeClock } from "@evenkeel/runtime/testing";
import { expect, test } from "@jest/globals";
import { FleetLoads } from "./fleet-loads.ts";
import { Loads, type LoadSettings } from "./loads.ts";
import type { Target } from "./target.ts";

const address = parseAddress("http://prometheus:9090") ?? null;
const settings: LoadSettings = { address, perScrape: 100 };

const target = (job: string, instance: string, more: Partial<Target> = {}): Target => ({
  ...{
    identity: `${job} ${instance}`,
    key: `${job} ${instance}`,
    job: `prometheus/${job}`,
    address: instance,
    interval: 10,
  },
  labels: new Map([
    ["job", job],
    ["instance", instance],
  ]),
  ...more,
});

/** Answers with the counts that the test sets, by job and instance. */
class Answers {
  counts: Record<string, string> | null = {};
  readonly asked: Query[] = [];

  query(query: Query): Promise<QueryOutcome> {
    this.asked.push(query);
    if (this.counts === null) return Promise.resolve({ kind: "failed", message: "Prometheus is away" });
    const samples = Object.entries(this.counts).map(([name, value]) => {
      const [job = "", instance = ""] = name.split(" ");
      return { seconds: 0, value, labels: { job, instance } };
    });
    return Promise.resolve({ kind: "samples", resultType: "vector", samples, warnings: [], askedAt: 0 });
  }
}

function fixture() {
  const [client, clock] = [new Answers(), new FakeClock()];
  return { client, clock, loads: new Loads({ client, clock }) };
}

test("a load is samples per second and the cost of scrapes, by count, annotation, mean of the job, mean of all", async () => {
  const { client, loads } = fixture();
  client.counts = { "app 10.0.0.1:80": "900", "app 10.0.0.2:80": "500" };
  await loads.refresh(settings);
  const weighed = loads.weigh(
    [
      target("app", "10.0.0.1:80"),
      target("app", "10.0.0.2:80", { interval: 5 }),
      target("app", "10.0.0.3:80"),
      target("other", "10.0.0.4:80"),
      target("app", "10.0.0.1:80", { expectedSeries: 1900 }),
      target("app", "10.0.0.5:80", { expectedSeries: 1700 }),
    ],
    settings,
  );
  // The means are of four known targets: 900, 500, 900 and 1700.
  expect(weighed.map(({ load }) => load)).toEqual([100, 120, 110, 110, 100, 180]);
});

test("an annotation counts for no more than ten of the largest target that was counted", async () => {
  const { client, loads } = fixture();
  client.counts = { "app a": "900", "app b": "500", "elsewhere c": "70000" };
  await loads.refresh(settings);
  const annotated = target("app", "d", { expectedSeries: 999_999_999 });
  const weighed = loads.weigh([target("app", "a"), target("app", "b"), annotated], settings);
  expect(weighed.at(-1)?.load).toBe(910);
  // Without a count there is nothing to compare with.
  expect(loads.weigh([annotated], settings)[0]?.load).toBeGreaterThan(9e7);
});

test("while nothing is counted all targets are alike, and none is zero", () => {
  const { loads } = fixture();
  const [one, two] = loads.weigh([target("app", "a"), target("other", "b")], { address: null });
  expect(one?.load).toBe(two?.load);
  expect(one?.load).toBeGreaterThan(0);
});

test("loads are unknown until Prometheus has answered once; then the last counts stay in force", async () => {
  const { client, clock, loads } = fixture();
  client.counts = null;
  await loads.refresh(settings);
  expect(loads.unknown(settings)).toBe("Prometheus is away");
  expect(loads.unknown({ address: null })).toBeNull();
  client.counts = { "app a": "300" };
  await clock.advance(60_000);
  await loads.refresh(settings);
  expect(loads.unknown(settings)).toBeNull();
  client.counts = null;
  await clock.advance(60_000);
  await loads.refresh(settings);
  expect(loads.fault).toBe("Prometheus is away");
  expect(loads.unknown(settings)).toBeNull();
  expect(loads.weigh([target("app", "a")], settings)[0]?.load).toBe(40);
});

test("counts are stale when Prometheus has not answered for five minutes", async () => {
  const { client, clock, loads } = fixture();
  client.counts = { "app a": "300" };
  await loads.refresh(settings);
  client.counts = null;
  await clock.advance(299_000);
  await loads.refresh(settings);
  expect(loads.stale).toBeNull();
  await clock.advance(60_000);
  await loads.refresh(settings);
  expect(loads.stale).toBe("Prometheus is away");
  client.counts = { "app a": "300" };
  await clock.advance(60_000);
  await loads.refresh(settings);
  expect(loads.stale).toBeNull();
});

test("Prometheus is asked once a minute, with labels and a limit for many targets", async () => {
  const { client, clock, loads } = fixture();
  client.counts = { "app a": "1" };
  await loads.refresh(settings);
  await loads.refresh(settings);
  await clock.advance(60_000);
  await loads.refresh(settings);
  expect(client.asked).toHaveLength(2);
  expect(client.asked[0]).toMatchObject({
    labelled: true,
    query: expect.stringContaining("by (job, instance)") as unknown,
  });
  expect(client.asked[0]?.limit).toBeGreaterThan(2 ** 24);
});

test("counts that are no numbers do not count", async () => {
  const { client, loads } = fixture();
  client.counts = { "app a": "NaN", "app b": "200" };
  await loads.refresh(settings);
  const [unknown] = loads.weigh([target("app", "a"), target("app", "b")], settings);
  expect(unknown?.load).toBe(30);
});

test("a target whose scrape fails keeps its count, and so does one that an answer leaves out", async () => {
  const { client, clock, loads } = fixture();
  const targets = [target("app", "a"), target("app", "b"), target("app", "c")];
  const weighed = () => loads.weigh(targets, settings).map(({ load }) => load);
  client.counts = { "app a": "900", "app b": "500", "app c": "100" };
  await loads.refresh(settings);
  expect(weighed()).toEqual([100, 60, 20]);
  // Prometheus writes 0 for a scrape that fails.
  client.counts = { "app a": "0", "app b": "700" };
  await clock.advance(60_000);
  await loads.refresh(settings);
  expect(weighed()).toEqual([100, 80, 20]);
  expect(client.asked[0]?.query).toMatch(/ > 0$/);
});

test("the count of a target that is gone is dropped", async () => {
  const { client, clock, loads } = fixture();
  client.counts = { "app a": "900", "app b": "500" };
  await loads.refresh(settings);
  loads.weigh([target("app", "b")], settings);
  client.counts = { "app b": "500" };
  await clock.advance(60_000);
  await loads.refresh(settings);
  const [back] = loads.weigh([target("app", "a"), target("app", "b")], settings);
  expect(back?.load).toBe(60);
});

test("a Prometheus server that hangs does not hold up a reconcile", async () => {
  const { client, clock } = fixture();
  client.counts = { "app a": "100" };
  const answered = Promise.withResolvers<undefined>();
  const hanging = { query: (query: Query) => answered.promise.then(() => client.query(query)) };
  const loads = new FleetLoads({ client: hanging, clock });
  const fleet = { uid: "u", catalogue: { targets: new Map() } };
  const spec = { load: { prometheus: { serverAddress: "http://prometheus:9090" } } };
  expect(loads.refresh(fleet, spec)).toEqual(expect.any(String));
  answered.resolve(undefined);
  await eventually(() => expect(loads.refresh(fleet, spec)).toBeNull());
  expect(client.asked).toHaveLength(1);
});
