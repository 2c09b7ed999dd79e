import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { systemClock } from "@evenkeel/runtime";
import { silentLog } from "@evenkeel/runtime/testing";
import { hasPrometheus, type RealPrometheus, startRealPrometheus } from "@evenkeel/world-contract";
import type { TriggerReading } from "../src/decide/snapshot.ts";
import { Triggers } from "../src/observe/triggers/triggers.ts";

/** When the series end: now, in seconds since the epoch. */
const NOW = Math.floor(Date.now() / 1000);

/** Samples of a series each half minute of so many minutes until now. */
function series(name: string, minutes: number, value: (secondsAgo: number) => number): readonly string[] {
  return Array.from({ length: minutes * 2 + 1 }, (_, index) => {
    const secondsAgo = (minutes * 2 - index) * 30;
    return `${name} ${value(secondsAgo)} ${NOW - secondsAgo}`;
  });
}

const OPEN_METRICS = [
  "# TYPE up gauge",
  ...series('up{container="prometheus"}', 20, () => 1),
  ...series('up{container="young"}', 3, () => 1),
  ...series('up{container="shaky"}', 20, (secondsAgo) => (secondsAgo >= 240 && secondsAgo < 480 ? 0 : 1)),
  ...series('up{container="pair",replica="a"}', 20, (secondsAgo) => (secondsAgo < 480 ? 0 : 1)),
  ...series('up{container="pair",replica="b"}', 20, (secondsAgo) => (secondsAgo < 480 ? 1 : 0)),
  "# TYPE requests counter",
  ...series('requests_total{service="quiet"}', 20, () => 500),
  ...series('requests_total{service="busy"}', 20, (secondsAgo) => 9000 - secondsAgo),
  "# TYPE nothing gauge",
  ...series("nothing", 1, () => NaN),
  "# EOF\n",
].join("\n");

const never = new AbortController().signal;

if (hasPrometheus()) describe("a trigger with a real Prometheus", real);
else test.skip("a trigger with a real Prometheus: it is not installed (Debian: prometheus)", () => undefined);

function real(): void {
  let prometheus: RealPrometheus;
  let triggers: Triggers;
  beforeAll(async () => {
    prometheus = await startRealPrometheus(OPEN_METRICS);
    triggers = new Triggers({
      clock: systemClock,
      log: silentLog(),
      interval: 30_000,
      address: new URL(prometheus.url),
      proxyFor: () => undefined,
    });
  }, 60_000);
  afterAll(async () => {
    await triggers.stop();
    await prometheus.stop();
  });

  async function read(metadata: Readonly<Record<string, string>>, cooldown = 900): Promise<TriggerReading | undefined> {
    const trigger = { type: "prometheus" as const, metadata: { threshold: "0.5", ...metadata } };
    const [reading] = await triggers.read({ namespace: "shop", triggers: [trigger], cooldown: cooldown * 1000 }, never);
    return reading;
  }

  const rate = (service: string) => `sum(rate(requests_total{service="${service}"}[5m]))`;

  test("is idle where no request was counted", async () => {
    expect(await read({ query: rate("quiet") })).toEqual({
      trigger: `prometheus ${rate("quiet")}`,
      verdict: "idle",
      message: expect.stringMatching(/\b0\b.*0\.5/),
    });
  });

  test("is idle for the original's example without series", async () => {
    const query = "sum(rate(nginx_ingress_controller_requests[1m])) or vector(0)";
    expect(await read({ query, serverAddress: prometheus.url })).toMatchObject({ verdict: "idle" });
  });

  test("is busy with traffic", async () => {
    const reading = await read({ query: rate("busy") });
    expect(reading).toMatchObject({
      verdict: "busy",
      message: expect.stringMatching(/[01](\.\d+)?.* 0\.5/),
    });
  });

  test.each([
    ["there are no data", "sum(rate(absent_total[5m]))", /no sample/],
    ["there are two series", "rate(requests_total[5m])", /2 series/],
    ["the value is NaN", "nothing", /NaN/],
    ["it divides by zero", "1 / vector(0)", /\+Inf/],
    ["the query is wrong", "sum(rate(", /bad_data/],
    ["the query gives a range", "requests_total[5m]", /range/],
  ])("is unknown where %s", async (_name, query, message) => {
    expect(await read({ query })).toMatchObject({ verdict: "unknown", message: expect.stringMatching(message) });
  });

  test.each([
    ["is younger than the cooldown", 'container="young"', /900 s/],
    ["was down meanwhile", 'container="shaky"', /900 s/],
    ["is not known at all", 'container="gone"', /900 s/],
    ["is asked for by a wrong filter", "container=", /bad_data/],
  ])("is unknown where the Prometheus %s", async (_name, uptimeFilter, message) => {
    const reading = await read({ query: rate("quiet"), uptimeFilter });
    expect(reading).toMatchObject({ verdict: "unknown", message: expect.stringMatching(message) });
  });

  test("is idle where one of a pair was up at each time", async () => {
    expect(await read({ query: rate("quiet"), uptimeFilter: 'container="pair"' })).toMatchObject({ verdict: "idle" });
  });

  test("is idle with a cooldown that is shorter than the Prometheus's interval", async () => {
    expect(await read({ query: rate("quiet") }, 2)).toMatchObject({ verdict: "idle" });
    expect(await read({ query: rate("quiet"), uptimeFilter: 'container="gone"' }, 2)).toMatchObject({
      verdict: "unknown",
    });
  });
}
