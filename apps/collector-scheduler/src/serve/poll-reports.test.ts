import { MetricRegistry } from "@evenkeel/metrics";
import { systemClock } from "@evenkeel/runtime";
import { eventually, FakeClock, silentLog } from "@evenkeel/runtime/testing";
import { openState } from "@evenkeel/state";
import { expect, test } from "@jest/globals";
import type { Fleet } from "../fleet.ts";
import { PollReports } from "./poll-reports.ts";
import { Polls } from "./polls.ts";

const log = silentLog();

test("a leader learns what a replica with the same host name told a collector", async () => {
  const state = openState("sqlite::memory:", {
    ...{ service: "test", clock: systemClock, log, registry: new MetricRegistry(), deadline: 5000 },
  });
  await state.start?.({ signal: new AbortController().signal, fail: () => undefined });
  const clock = new FakeClock();
  const replica = () => {
    const fleet = { uid: "uid-1", polls: new Polls(), handingOver: () => ["web"] } as unknown as Fleet;
    const reports = new PollReports({ fleets: { values: () => [fleet] }, state, instance: "host", clock, log });
    return { fleet, reports };
  };
  const [leader, other] = [replica(), replica()];
  other.fleet.polls.note("one", "web", 7, clock.now());
  other.reports.start();
  await clock.advance(1000);
  await eventually(async () =>
    expect(await leader.reports.read(leader.fleet)).toMatchObject([{ collector: "one", job: "web", seen: 7 }]),
  );
  other.reports.stop();
  await state.stop?.(AbortSignal.timeout(1000));
});
