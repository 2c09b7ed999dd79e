import { type Node, Store } from "@evenkeel/kube";
import { systemClock } from "@evenkeel/runtime";
import { eventually, FakeClock, silentLog } from "@evenkeel/runtime/testing";
import { expect, test } from "@jest/globals";
import type { AssignmentRecords } from "./act/assignment-records.ts";
import { NO_ASSIGNMENTS, type Pool } from "./decide/assignments.ts";
import { Fleet } from "./fleet.ts";
import { Catalogue, type CatalogueParts } from "./observe/catalogue.ts";
import { NodeZones } from "./observe/node-zones.ts";

const JOB = { job_name: "app", static_configs: [{ targets: ["10.0.0.1:80"] }] };
const collectorConfig = JSON.stringify({ receivers: { prometheus: { config: { scrape_configs: [JOB] } } } });

/** A fleet with one member, after a restart while the API server has not listed the nodes. */
function fixture(pool: Pool) {
  const clock = new FakeClock();
  const nodes = new Store<Node>({ log: silentLog() });
  const zones = new NodeZones(nodes, clock);
  const catalogue = new Catalogue({
    clock,
    zones,
    maxTargets: 10,
    discovery: { clock: systemClock } as CatalogueParts["discovery"],
  });
  const fleet = new Fleet({
    ...{ namespace: "default", name: "metrics", uid: "u", catalogue, records: {} as AssignmentRecords },
    limits: { scope: "all", files: undefined, watched: [] },
    now: () => clock.now(),
    isRollingOut: () => false,
  });
  fleet.configure({ collectorConfig });
  fleet.assign({ ...NO_ASSIGNMENTS, at: 1, members: [{ name: "c-0", zone: "a" }], pool });
  const ask = (collector = "c-0") => fleet.answer({ asks: { for: "targets", job: "app", collector } }, true);
  return { fleet, ask, clock, nodes, catalogue, [Symbol.dispose]: () => fleet.stop() };
}

const REFUSED = { status: 503, sentence: expect.stringContaining("nodes") as unknown };
const ANSWERED = { body: expect.anything() as unknown };

test("with zones as pools no target is told before the nodes are listed", async () => {
  using world = fixture("zone");
  await eventually(() => expect(world.catalogue.answered).toBe(true));
  expect(world.ask()).toEqual(REFUSED);
  Array.from(world.nodes.replace(world.nodes.draft()));
  expect(world.ask()).toEqual(ANSWERED);
});

test("a member that gets 503 has asked all the same, and another client has not", async () => {
  using world = fixture("zone");
  await eventually(() => expect(world.catalogue.answered).toBe(true));
  expect([world.ask(), world.ask("stranger")]).toEqual([REFUSED, REFUSED]);
  expect([...world.fleet.polls.last().keys()]).toEqual(["c-0"]);
  expect(world.fleet.polls.list()).toEqual([]);
});

test("nodes are waited for no longer than 30 s", async () => {
  using world = fixture("zone");
  await eventually(() => expect(world.catalogue.answered).toBe(true));
  await world.clock.advance(29_000);
  expect(world.ask()).toEqual(REFUSED);
  await world.clock.advance(1000);
  expect(world.ask()).toEqual(ANSWERED);
});

test.each<Pool>(["none", "node"])("nodes are not waited for with pool %s", async (pool) => {
  using world = fixture(pool);
  await eventually(() => expect(world.catalogue.answered).toBe(true));
  expect(world.ask()).toEqual(ANSWERED);
});
