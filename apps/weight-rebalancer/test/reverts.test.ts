import type { IncomingMessage } from "node:http";
import { describe, expect, test } from "@jest/globals";
import { events, secrets } from "@evenkeel/kube";
import { rebalances } from "../src/rebalance-resource.ts";
import { SteppedService } from "./stepped-service.ts";
import { QUERY, twoSites, World } from "./world.ts";

const NAME = { namespace: "default", name: "checkout" };
const SECRET = { namespace: "default", name: "aws" };
const MINUTE = 60_000;
const isChange = ({ method }: IncomingMessage) => method === "POST";

/** A Rebalance that reverts, with a key from a Secret, after its first change. */
async function changed(world: World, service: SteppedService): Promise<void> {
  await world.create("checkout", { ...spec(world), onDelete: "revert" });
  await service.until(() => expect(weight(world, "www.example.com")).toBe(16));
  await service.until(async () => expect(await condition(world, "Ready")).toMatchObject({ status: "True" }));
}

/** The clock of the service is ahead of that of the samples. */
function spec(world: World) {
  const prometheus = { address: world.prometheus.url, query: QUERY, maxAge: "24h" };
  return { interval: "10s", metrics: { prometheus }, target: target(world, "www.example.com") };
}

function target(world: World, name: string) {
  return world.spec("blue", name)["target"] as object;
}

const weight = (world: World, name: string) =>
  world.route53.records("Z1").find((each) => each.name.startsWith(name) && each.setIdentifier === "blue")?.weight;

const condition = async (world: World, type: string) =>
  (await world.get("checkout")).status?.conditions?.find((each) => each.type === type);

const eventReasons = async (world: World) =>
  (await world.kube.resource(events).list({ namespace: "default" })).items
    .filter(({ action }) => action === "revert")
    .map(({ type, reason }) => `${type} ${reason}`);

const remove = (world: World) => world.kube.resource(rebalances).delete(NAME);
const isGone = (world: World) => expect(world.get("checkout")).rejects.toMatchObject({ code: "EK_KUBE_NOT_FOUND" });

describe("a deletion that cannot revert the weight", () => {
  test.each([
    ["because access is denied", { kind: "status", code: 403 }, "Route53Denied"],
    ["because Route 53 does not answer", { kind: "hang" }, "Route53Unreachable"],
  ] as const)("%s, says so, and ends as soon as it can", async (_why, fault, reason) => {
    await using world = await World.start();
    await using service = await SteppedService.start(world);
    await changed(world, service);
    const restore = world.route53.faults.add({ fault, when: isChange });
    await remove(world);
    await service.until(async () => {
      expect(await condition(world, "RevertPending")).toMatchObject({ status: "True", reason });
      expect(await condition(world, "Ready")).toMatchObject({ status: "False", reason: "RevertPending" });
    }, 10 * MINUTE);
    expect((await condition(world, "Ready"))?.message).toContain("evenkeel.io/revert-weight");
    await service.until(async () => expect(await eventReasons(world)).toContain("Warning RevertFailed"));
    restore();
    await service.until(() => isGone(world), 3 * MINUTE);
    expect(weight(world, "www.example.com")).toBe(1);
  });

  test("because its Secret is gone, waits ten minutes for it and no longer", async () => {
    await using world = await World.start();
    await using service = await SteppedService.start(world);
    await changed(world, service);
    await world.kube.resource(secrets).delete(SECRET);
    // A Secret is cached for a minute.
    await service.advance(MINUTE);
    await remove(world);
    await service.until(async () =>
      expect(await condition(world, "RevertPending")).toMatchObject({ status: "True", reason: "SecretNotFound" }),
    );
    await service.advance(5 * MINUTE);
    expect(await condition(world, "RevertPending")).toMatchObject({ status: "True" });
    await service.until(() => isGone(world), 6 * MINUTE);
    expect(weight(world, "www.example.com")).toBe(16);
    await service.until(async () => expect(await eventReasons(world)).toContain("Warning RevertAbandoned"));
  });
});

test.each([
  ["that is paused restores the weight", { metadata: { annotations: { "evenkeel.io/paused": "true" } } }, 1],
  ["that is suspended restores the weight", { spec: { suspend: true } }, 1],
  ["that became a dry run leaves the weight", { spec: { dryRun: true } }, 16],
])("the deletion of a Rebalance %s, and does not wait", async (_what, body, left) => {
  await using world = await World.start();
  await using service = await SteppedService.start(world);
  await changed(world, service);
  await world.kube.resource(rebalances).patch(NAME, { type: "merge", body });
  const decisions = service.watched.decided.length;
  await service.until(() => expect(service.watched.decided.length).toBeGreaterThan(decisions));
  await remove(world);
  await service.until(() => isGone(world), MINUTE);
  expect(weight(world, "www.example.com")).toBe(left);
});

test("the deletion of a Rebalance leaves the weight to another one that names the same target", async () => {
  await using world = await World.start();
  await using service = await SteppedService.start(world);
  await changed(world, service);
  await world.create("heir", spec(world));
  const heir = async () => (await world.get("heir")).status?.conditions?.find(({ type }) => type === "Ready");
  await service.until(async () => expect(await heir()).toBeDefined());
  await remove(world);
  await service.until(() => isGone(world), MINUTE);
  await service.until(async () => expect(await heir()).toMatchObject({ status: "True" }));
  expect(world.route53.journal.map(({ after }) => after?.weight)).toEqual([16]);
  await service.until(async () => expect(await eventReasons(world)).toContain("Warning RevertAbandoned"));
});

describe("a target that spec no longer names", () => {
  const start = () => World.start([...twoSites("www.example.com"), ...twoSites("api.example.com")]);
  const retarget = (world: World) =>
    world.kube
      .resource(rebalances)
      .patch(NAME, { type: "merge", body: { spec: { target: target(world, "api.example.com") } } });

  test("gets its weight again, while the new one is followed", async () => {
    await using world = await start();
    await using service = await SteppedService.start(world);
    await changed(world, service);
    await retarget(world);
    await service.until(() => {
      expect(weight(world, "www.example.com")).toBe(1);
      expect(weight(world, "api.example.com")).toBe(16);
    });
    await service.until(async () => {
      expect(await condition(world, "RevertPending")).toMatchObject({ status: "False", reason: "Reverted" });
      const { status } = await world.get("checkout");
      expect(status?.initialWeights).toMatchObject([{ target: expect.stringContaining("api.example.com"), weight: 1 }]);
    });
    await service.until(async () => expect(await eventReasons(world)).toContain("Normal Reverted"));
  });

  test("is not touched if another Rebalance writes it", async () => {
    await using world = await start();
    await using service = await SteppedService.start(world);
    await changed(world, service);
    await world.create("heir", spec(world));
    const heir = async () => (await world.get("heir")).status?.conditions?.find(({ type }) => type === "Ready");
    // Created within a second, the uid decides which is older and writes.
    await service.until(async () => expect(await heir()).toBeDefined());
    await retarget(world);
    await service.until(async () =>
      expect(await condition(world, "RevertPending")).toMatchObject({ status: "False", reason: "Abandoned" }),
    );
    await service.until(() => expect(weight(world, "api.example.com")).toBe(16));
    expect(weight(world, "www.example.com")).toBe(16);
  });
});
