import { kubectl, TEST_TIMEOUT_MS, useCluster } from "@evenkeel/e2e";
import { eventually } from "@evenkeel/runtime/testing";
import { definitionOf } from "@evenkeel/testkit";
import { beforeAll, expect, test } from "@jest/globals";
import { CollectorFleet, INTERVAL, REFRESH } from "./collector-fleet.ts";
import type { ScrapeHistory } from "./scrape-history.ts";

const cluster = useCluster({ name: "real-collectors", nodes: 1 });

beforeAll(async () => {
  await kubectl(cluster(), ["apply", "-f", "-"], { input: definitionOf("collectorloadbalancers") });
  await kubectl(cluster(), ["wait", "--for=condition=Established", "crd/collectorloadbalancers.otel.k8s.aws"]);
}, TEST_TIMEOUT_MS);

/** Nothing was missed, and two collectors scraped the same for no longer than a hand-over may take. */
function expectNothingMissed(history: ScrapeHistory): void {
  expect(history.gaps(1.2 * INTERVAL * 1000, Date.now() - INTERVAL * 1000)).toEqual([]);
  const limit = (INTERVAL + REFRESH + 20) * 1000;
  expect(history.overlaps(2 * INTERVAL * 1000).filter(({ milliseconds }) => milliseconds > limit)).toEqual([]);
}

test("real collectors miss no scrape while their number, the jobs and the scheduler change", async () => {
  await using fleet = await CollectorFleet.start(cluster(), "shop");
  await fleet.apply(2, 60);
  await fleet.settled(2, 60);

  await fleet.scale(4);
  await fleet.settled(4, 60);

  await fleet.apply(4, 60, 10);
  const owners = await fleet.settled(4, 70);

  await fleet.restartService();
  const restartedAt = Date.now();
  // A target that the new process gave to another collector would be there by then.
  const scrapes = 1 + (REFRESH + 10) / INTERVAL;
  await eventually(async () => (await fleet.collectors.history()).fewestSince(restartedAt) > scrapes, 60_000);
  expect(await fleet.settled(4, 70)).toEqual(owners);

  await fleet.scale(2);
  await fleet.settled(2, 70);
  expectNothingMissed(await fleet.collectors.history());
}, 300_000);
