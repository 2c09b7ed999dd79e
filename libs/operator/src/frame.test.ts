import { configMaps, events, leases } from "@evenkeel/kube";
import { eventually } from "@evenkeel/runtime/testing";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { World } from "../test/level-service.ts";

let world: World;
beforeEach(async () => {
  world = await World.start();
});
afterEach(() => world[Symbol.asyncDispose]());

const lease = { namespace: "default", name: "level-service" };

test("reconciles every object and tells of its decision as an Event of that object and to callers", async () => {
  const { metadata } = await world.put("default", "a", 7);
  const service = await world.serve();
  await eventually(() => service.decided("default/a") === 7);
  await eventually(async () => JSON.stringify(await service.call("Decisions/List", {})).includes("The level is 7"));
  const told = async () => (await world.kube.resource(events).list({ namespace: "default" })).items;
  await eventually(async () => (await told()).length > 0);
  expect(await told()).toMatchObject([
    {
      reportingController: "evenkeel.io/level-service",
      reportingInstance: "replica-0",
      type: "Normal",
      reason: "Level",
      regarding: { apiVersion: "v1", kind: "ConfigMap", namespace: "default", name: "a", uid: metadata.uid },
    },
  ]);
});

test("starts certificates before all that can wait for others, so that a scrape over TLS is answered from the start", () => {
  const parts = world.parts("--tls-cert-file=tls.crt", "--tls-key-file=tls.key", "--admin-tls");
  expect(parts[0]).toBe("certificates");
  expect(parts.length).toBeGreaterThan(1);
});

test("releases the Lease on SIGTERM, before the servers drain", async () => {
  const service = await world.serve();
  await eventually(async () =>
    (await service.service.registry.text()).includes('master_status{name="level-service"} 1'),
  );
  expect(await holder()).toMatch(/^replica-0_/);
  expect(await service.stop()).toBe(0);
  expect(service.phases).toEqual(["ready", "not ready", "leader loops stopped", "delay", "drain", "stopped"]);
  expect(await holder()).toBe("");
});

test("forgets at the end of a term what the leader alone knows: gauges, decisions and the board", async () => {
  await world.put("default", "a", 7);
  const service = await world.serve();
  const { board, reconciler, host } = service;
  await eventually(() => service.decided("default/a") === 7);
  expect(await service.metric("level")).toEqual({ a: 7 });

  await takeLease();
  await eventually(() => reconciler.terms === 1);
  expect(await service.metric("level")).toEqual({});
  expect(await service.metric("seen")).toEqual({ a: 1 });
  expect(board.get("default/a")).toMatchObject({ reason: "", name: { namespace: "default", name: "a" } });
  expect(service.decided("default/a")).toBeUndefined();

  const before = host.lines.filter(({ decision }) => decision !== undefined).length;
  await eventually(() => service.decided("default/a") === 7);
  expect(await service.metric("level")).toEqual({ a: 7 });
  expect(host.lines.filter(({ decision }) => decision !== undefined)).toHaveLength(before + 1);
});

test("forgets an object that is gone, by its uid", async () => {
  const first = await world.put("default", "a", 7);
  const service = await world.serve();
  const { reconciler } = service;
  await eventually(() => service.decided("default/a") === 7);
  await world.kube.resource(configMaps).delete({ namespace: "default", name: "a" });
  await eventually(() => reconciler.forgotten.length === 1);
  expect(reconciler.forgotten).toEqual([{ namespace: "default", name: "a", uid: first.metadata.uid }]);
  expect([await service.metric("level"), await service.metric("seen")]).toEqual([{}, {}]);
});

test("follows the watched namespaces and no others", async () => {
  for (const namespace of ["shop", "bank", "zoo"]) await world.namespace(namespace);
  await Promise.all(["shop", "bank", "zoo"].map((namespace, index) => world.put(namespace, "a", index)));
  const service = await world.serve("--watch-namespaces=shop,zoo");
  await eventually(() => service.decided("shop/a") === 0 && service.decided("zoo/a") === 2);
  expect(service.store.size).toBe(2);
});

test("follows all namespaces if the list of watched ones is empty", async () => {
  await world.namespace("shop");
  await Promise.all(["default", "shop"].map((namespace, index) => world.put(namespace, "a", index)));
  const service = await world.serve("--watch-namespaces=");
  await eventually(() => service.decided("default/a") === 0 && service.decided("shop/a") === 1);
});

test("leads without a Lease where there is to be no election", async () => {
  await world.put("default", "a", 7);
  const service = await world.serve("--leader-elect=false");
  await eventually(() => service.decided("default/a") === 7);
  expect((await world.kube.resource(leases).list()).items).toEqual([]);
});

test("leads without a Lease by a fencing token that shared state accepts after one of a Lease", async () => {
  await world.put("default", "a", 7);
  const elected = await world.serve();
  await eventually(() => elected.decided("default/a") === 7);
  await elected.stop();
  const alone = await world.serve("--leader-elect=false");
  await eventually(() => alone.decided("default/a") === 7);
  expect(alone.reconciler.token).toBeGreaterThan(elected.reconciler.token ?? 0n);
});

test("shows objects to readers, and pauses them for callers who may patch them", async () => {
  await world.put("default", "a", 7);
  await world.put("default", "b", 8);
  const service = await world.serve();
  await eventually(() => service.decided("default/a") === 7);
  const named = { object: { namespace: "default", name: "a" } };
  const get = () => service.call("Objects/Get", { namespace: "default", name: "a" });
  expect(await get()).toMatchObject({
    status: 200,
    body: { objects: [{ name: named.object, value: 7, reason: "Level", paused: false, dryRun: false }] },
  });

  expect(await service.call("Objects/Pause", named)).toMatchObject({ status: 401 });
  expect(await service.call("Objects/Pause", { object: { namespace: "default", name: "x" } }, "secret")).toMatchObject({
    status: 404,
    body: { code: "EK_RPC_NOT_FOUND" },
  });
  expect(await service.call("Objects/Pause", named, "secret")).toMatchObject({ status: 200 });
  await eventually(async () => JSON.stringify(await get()).includes('"paused":true'));
  expect(await service.call("Objects/Resume", named, "secret")).toMatchObject({ status: 200 });
  await eventually(async () => JSON.stringify(await get()).includes('"paused":false'));
});

async function holder(): Promise<string> {
  return (await world.kube.resource(leases).get(lease)).spec?.holderIdentity ?? "";
}

/** Gives the Lease to another process that never renews it. */
async function takeLease(): Promise<void> {
  const present = await world.kube.resource(leases).get(lease);
  await world.kube.resource(leases).replace({ ...present, spec: { ...present.spec, holderIdentity: "another" } });
}
