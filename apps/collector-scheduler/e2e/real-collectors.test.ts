import { applyDefinitions, TEST_TIMEOUT_MS, useCluster } from "@evenkeel/e2e";
import { eventually } from "@evenkeel/runtime/testing";
import { definitionOf } from "@evenkeel/testkit";
import { beforeAll, expect, test } from "@jest/globals";
import { CollectorFleet, INTERVAL, REFRESH, SEAT_GRACE } from "./collector-fleet.ts";
import type { ScrapeHistory } from "./scrape-history.ts";

const cluster = useCluster({ name: "real-collectors", nodes: 1 });

beforeAll(async () => {
  await applyDefinitions(cluster(), definitionOf("collectorloadbalancers"));
}, TEST_TIMEOUT_MS);

/** Nothing was missed, and two collectors scraped the same for no longer than a hand-over may take. */
function expectNothingMissed(history: ScrapeHistory): void {
  expect(history.gaps(1.2 * INTERVAL * 1000, Date.now() - INTERVAL * 1000)).toEqual([]);
  const limit = (INTERVAL + REFRESH + 20) * 1000;
  expect(history.overlaps(2 * INTERVAL * 1000).filter(({ milliseconds }) => milliseconds > limit)).toEqual([]);
}

// Each fleet has a service of its own in a namespace of its own, so that all run at the same time.
test.concurrent(
  "real collectors miss no scrape while their number and the jobs change",
  async () => {
    await using fleet = await CollectorFleet.start(cluster(), "shop");
    await fleet.apply({ replicas: 2, counts: [60] });
    await fleet.settled(2, 60);

    await fleet.scale(4);
    await fleet.settled(4, 60);

    // Fewer collectors and one more job at once.
    await fleet.apply({ replicas: 2, counts: [60, 10] });
    await fleet.settled(2, 70);
    expectNothingMissed(await fleet.history());
  },
  300_000,
);

test.concurrent(
  "a restarted scheduler, an invalid job and a killed collector cost the other targets no scrape",
  async () => {
    await using fleet = await CollectorFleet.start(cluster(), "depot");
    await fleet.apply({ replicas: 3, counts: [30] });
    const before = await fleet.settled(3, 30);

    await fleet.restartService();
    const restartedAt = Date.now();
    // A target that the new process gave to another collector would be there by then.
    const scrapes = 1 + (REFRESH + 10) / INTERVAL;
    await eventually(async () => (await fleet.history()).fewestSince(restartedAt) > scrapes, 60_000);
    expect(await fleet.settled(3, 30)).toEqual(before);

    const bad = { job_name: "bad", relabel_configs: [{ action: "keep", source_labels: ["a"], regex: "(" }] };
    await fleet.apply({ replicas: 3, counts: [30], more: [{ ...bad, static_configs: [{ targets: ["a:1"] }] }] });
    await eventually(async () => expect(await fleet.condition("ConfigValid")).toMatchObject({ status: "False" }));
    expect((await fleet.condition("ConfigValid"))?.message).toContain("bad");

    const [killed = ""] = fleet.collectors.names;
    const killedAt = Date.now();
    await fleet.collectors.crash(killed);
    await fleet.settled(2, 30);
    const history = await fleet.history();
    const lost = [...before].flatMap(([instance, name]) => (name.startsWith(`${killed} `) ? [instance] : []));
    expect(lost).not.toEqual([]);
    const limit = (SEAT_GRACE + REFRESH + 10 + INTERVAL) * 1000;
    for (const instance of lost) expect(history.firstSince(instance, killedAt) - killedAt).toBeLessThan(limit);
    const gaps = history.gaps(1.2 * INTERVAL * 1000, Date.now() - INTERVAL * 1000);
    expect(gaps.filter(({ instance }) => !lost.includes(instance))).toEqual([]);
  },
  200_000,
);

test.concurrent(
  "a new image with restart: handOver costs no scrape, and no target waits for a restarted collector",
  async () => {
    await using fleet = await CollectorFleet.start(cluster(), "press");
    await fleet.apply({ replicas: 2, counts: [20], restart: "handOver" });
    await fleet.settled(2, 20);
    const old = fleet.collectors.uids;

    await fleet.apply({ replicas: 2, counts: [20], restart: "handOver", image: "collector:2" });
    await eventually(() => expect(fleet.collectors.uids.filter((uid) => old.includes(uid))).toEqual([]), 120_000);
    await fleet.settled(2, 20);
    expectNothingMissed(await fleet.history());
  },
  300_000,
);

test.concurrent(
  "a new image with restart: wait moves nothing, and a target misses what its own collector misses",
  async () => {
    await using fleet = await CollectorFleet.start(cluster(), "quarry");
    const wanted = { replicas: 2, counts: [20], restart: "wait", seatGrace: 120 } as const;
    await fleet.apply(wanted);
    const before = await fleet.settled(2, 20);
    const [old, changedAt] = [fleet.collectors.uids, Date.now()];

    await fleet.apply({ ...wanted, image: "collector:2" });
    await eventually(() => expect(fleet.collectors.uids.filter((uid) => old.includes(uid))).toEqual([]), 120_000);
    await fleet.settled(2, 20);
    const history = await fleet.history();
    const podOf = (collector = "") => collector.split(" ")[0];
    for (const [instance, collectors] of history.ownersSince(changedAt))
      expect(new Set(collectors.map(podOf))).toEqual(new Set([podOf(before.get(instance))]));

    const pauses = history.gaps(1.2 * INTERVAL * 1000, Date.now() - INTERVAL * 1000);
    const [away, longest] = [fleet.collectors.longestAway, Math.max(...pauses.map(({ milliseconds }) => milliseconds))];
    process.stderr.write(`  restart: wait: a collector was away for ${away} ms at most, a target for ${longest} ms\n`);
    // From its start to its first scrape, a collector discovers and loads for 5 s each and then waits for its moment.
    expect(longest).toBeLessThanOrEqual(away + 10_000 + 2 * INTERVAL * 1000);
  },
  300_000,
);
