import { events } from "@evenkeel/kube";
import { eventually } from "@evenkeel/runtime/testing";
import { afterAll, beforeAll, expect, jest, test } from "@jest/globals";
import { elastiServices } from "../src/elasti-service-resource.ts";
import { times, World } from "./world.ts";

jest.setTimeout(60_000);

let world: World;
beforeAll(async () => {
  // The definition refuses what these cases store; another release's may accept it.
  world = await World.start({ lenient: true });
  world.serve();
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await (await restartedWorld)?.[Symbol.asyncDispose]();
});

/**
 * A world whose resolver stopped while services slept, whose objects were edited meanwhile, and which has a new one.
 */
let restartedWorld: Promise<World> | undefined;
const restarted = () => (restartedWorld ??= restart());
async function restart(): Promise<World> {
  const world = await World.start({ lenient: true });
  const first = world.serve();
  await Promise.all([
    world.asleep("moved"),
    world.asleep("readable", { minTargetReplicas: 2 }),
    world.asleep("unreadable"),
    world.asleep("selector"),
  ]);
  first.signal("SIGTERM");
  await first.exit;
  await world.deployment("moved-next", { app: "moved", release: "next" });
  await world.edit("moved", { scaleTargetRef: { name: "moved-next" } });
  world.traffic.set("moved", 5);
  await world.edit("readable", { triggers: "none", minTargetReplicas: 2, scaleTargetRef: null });
  // As a release left it that did not record the workload.
  const { status } = await world.get("unreadable");
  const body = { status: { ...status, scaleTargetRef: null } };
  const unreadable = { namespace: "default", name: "unreadable" };
  await world.kube.resource(elastiServices).status.patch(unreadable, { type: "merge", body });
  await world.edit("unreadable", { scaleTargetRef: "unreadable" });
  await world.edit("selector", SELECTS_NOTHING);
  await world.delete("selector");
  world.serve();
  return world;
}

/** A Deployment `<name>-next` behind the Service `name`. */
async function successor(name: string, replicas: number): Promise<void> {
  await world.deployment(`${name}-next`, { app: name, release: "next" }, replicas);
}

/** No such type of trigger, and more replicas than before. */
const TYPO = { triggers: [{ type: "promethues", metadata: {} }], minTargetReplicas: 5 };
const SELECTS_NOTHING = { service: null, scaleTargetRef: null, selector: { matchLabels: { no: "such" } } };

const holdWakes = (name: string) =>
  world.faults.add({ fault: { kind: "status", code: 503 }, verb: "patch", resource: "deployments", name });

test.concurrent(
  "while its workload sleeps, an ElastiService that is given another workload wakes the old one, manages the new one, and answers waiting requests",
  async () => {
    await world.asleep("waiting", { minTargetReplicas: 2 });
    await successor("waiting", 0);
    // Requests wait until well after the edit.
    const ends = [holdWakes("waiting"), holdWakes("waiting-next")];
    const answers = world.askAll("waiting", 20, { method: "POST" });
    await world.inState("waiting", "Zero");
    await world.edit("waiting", { scaleTargetRef: { name: "waiting-next" }, minTargetReplicas: 1 });
    await eventually(async () =>
      expect(await world.ready("waiting", "Failed")).toMatchObject({ observedGeneration: 2 }),
    );
    expect((await world.get("waiting")).status?.scaleTargetRef).toMatchObject({ name: "waiting" });
    for (const end of ends) end();
    expect(await answers).toEqual(times(20, 200));
    expect(world.receivedBy("waiting")).toHaveLength(20);
    world.traffic.set("waiting", 5);
    await world.isScaledTo("waiting", 2);
    await world.isScaledTo("waiting-next", 1);
    const { status } = await world.inState("waiting", "Serve");
    await eventually(async () => {
      expect((await world.get("waiting")).status?.scaleTargetRef).toMatchObject({ name: "waiting-next" });
    });
    expect(status?.service).toBe("waiting");
    await world.isRestored("waiting");
  },
);

test.concurrent(
  "while its workload sleeps, an ElastiService that is given another workload wakes the old one without a request, and scales the new one to zero from then on",
  async () => {
    await world.asleep("idle");
    await successor("idle", 1);
    world.traffic.set("idle", 5);
    await world.edit("idle", { scaleTargetRef: { name: "idle-next" } });
    await world.isScaledTo("idle", 1);
    await world.inState("idle", "Serve");
    expect(await world.replicas("idle-next")).toBe(1);
    // The old one is no longer managed.
    await world.scale("idle", 0);
    world.traffic.set("idle", 0);
    await world.isScaledTo("idle-next", 0);
    await world.sleeps("idle");
    expect((await world.ask("idle")).status).toBe(200);
    expect([await world.replicas("idle"), await world.replicas("idle-next")]).toEqual([0, 1]);
  },
);

test.concurrent(
  "while its workload sleeps, an ElastiService that is made invalid keeps the last good spec for requests, says so, and does not sleep again",
  async () => {
    await world.asleep("typo", { minTargetReplicas: 2 });
    await world.edit("typo", TYPO);
    const condition = await world.ready("typo", "InvalidSpec");
    expect(condition).toMatchObject({ status: "False", observedGeneration: 2 });
    expect(condition.message).toContain("spec.triggers[0].type");
    await eventually(async () => {
      const { items } = await world.kube.resource(events).list({ namespace: "default" });
      expect(items).toContainEqual(expect.objectContaining({ reason: "InvalidSpec", type: "Warning" }));
    });
    expect(await world.askAll("typo", 10, { method: "POST" })).toEqual(times(10, 200));
    expect(await world.replicas("typo")).toBe(2);
    await world.inState("typo", "Serve");
    // The triggers of the last good spec read idle, and another service with the same periods falls asleep meanwhile.
    await world.fallsAsleep("control");
    expect((await world.get("typo")).status?.state).toBe("Serve");
    expect(await world.replicas("typo")).toBe(2);
    await world.ready("typo", "InvalidSpec");

    await world.edit("typo", { triggers: [world.trigger("typo")] });
    await world.sleeps("typo");
    expect((await world.ask("typo")).status).toBe(200);
    expect(await world.replicas("typo")).toBe(5);
  },
);

test.concurrent(
  "while its workload sleeps, an ElastiService that is made invalid while requests wait strands none of them",
  async () => {
    await world.asleep("stranded");
    const end = holdWakes("stranded");
    const answers = world.askAll("stranded", 10);
    const { metadata } = await world.edit("stranded", { service: 7, scaleTargetRef: "stranded" });
    expect(metadata.generation).toBe(2);
    end();
    expect(await answers).toEqual(times(10, 200));
    await world.ready("stranded", "InvalidSpec");
  },
);

test.concurrent(
  "while its workload sleeps, an ElastiService that selects Services from now on wakes and restores its former one, unless it selects it",
  async () => {
    await world.asleep("selector");
    await world.edit("selector", SELECTS_NOTHING);
    await world.isScaledTo("selector", 1);
    await world.isRestored("selector");
    expect((await world.ask("selector")).status).toBe(200);
    await eventually(async () => expect((await world.get("selector")).status).not.toHaveProperty("service"));
    expect(await world.ready("selector", "Selected")).toMatchObject({ status: "True" });
  },
);

test.concurrent(
  "while its workload sleeps, an ElastiService that is paused and pointed at another Service has the old one woken by requests, and restores it when it is resumed",
  async () => {
    await world.asleep("paused", { minTargetReplicas: 2 });
    await world.workload("paused-other");
    await world.annotate("paused", { "evenkeel.io/paused": "true" });
    await world.edit("paused", { service: "paused-other", scaleTargetRef: { name: "paused-other" } });
    await world.ready("paused", "Paused");
    world.traffic.set("paused", 5);
    expect((await world.ask("paused")).status).toBe(200);
    expect(await world.replicas("paused")).toBe(1);
    expect(await world.resolverSlices("paused")).toHaveLength(1);
    await world.annotate("paused", { "evenkeel.io/paused": null });
    await eventually(async () => expect((await world.get("paused")).status?.service).toBe("paused-other"));
    expect(await world.ownSlices("paused")).toEqual([]);
    expect((await world.ask("paused")).status).toBe(200);
  },
);

test.concurrent(
  "while its workload sleeps, an ElastiService whose Service an older one names now wakes its workload, and reports which one manages the Service",
  async () => {
    await world.workload("older");
    const older = await world.elasti("older", { triggers: undefined });
    // Timestamps are whole seconds.
    const created = Date.parse(older.metadata.creationTimestamp ?? "");
    await eventually(() => Date.now() >= created + 1000);
    await world.fallsAsleep("contested");
    await successor("contested", 1);
    await world.edit("older", { service: "contested", scaleTargetRef: { name: "contested-next" } });
    const { message } = await world.ready("contested", "Conflict");
    expect(message).toContain("older");
    expect(await world.replicas("contested")).toBe(1);
    expect((await world.get("contested")).status).not.toHaveProperty("service");
    await world.inState("older", "Serve");
    await world.isRestored("contested");
    expect((await world.ask("contested")).status).toBe(200);
  },
);

test.concurrent(
  "while its workload sleeps, an ElastiService that is awake gets another workload and does not change the old one",
  async () => {
    await world.workload("awake");
    await successor("awake", 1);
    await world.elasti("awake");
    await world.inState("awake", "Serve");
    await world.scale("awake", 0);
    await world.edit("awake", { scaleTargetRef: { name: "awake-next" } });
    await eventually(async () => {
      expect((await world.get("awake")).status?.scaleTargetRef).toMatchObject({ name: "awake-next" });
    });
    expect([await world.replicas("awake"), await world.replicas("awake-next")]).toEqual([0, 1]);
  },
);

test.concurrent(
  "while its workload sleeps and before a restart, an ElastiService that is given another workload wakes the old one after it",
  async () => {
    const world = await restarted();
    await world.isScaledTo("moved", 1);
    await world.inState("moved", "Serve");
    expect((await world.get("moved")).status?.scaleTargetRef).toMatchObject({ name: "moved-next" });
  },
);

test.concurrent(
  "while its workload sleeps and before a restart, an ElastiService that is made invalid still wakes by what can be read of it, and is deleted without a trace",
  async () => {
    const world = await restarted();
    expect(await world.ready("readable", "InvalidSpec")).toMatchObject({ status: "False" });
    expect((await world.ask("readable")).status).toBe(200);
    expect(await world.replicas("readable")).toBe(2);
    await world.inState("readable", "Serve");
    await world.scale("readable", 0);
    await world.inState("readable", "Zero");
    await world.delete("readable");
    await world.isGone("readable");
    expect(await world.replicas("readable")).toBe(2);
    expect(await world.ownSlices("readable")).toEqual([]);
  },
);

test.concurrent(
  "while its workload sleeps and before a restart, an ElastiService that is entirely invalid has requests refused at once, and held again once it is corrected",
  async () => {
    const world = await restarted();
    await world.ready("unreadable", "InvalidSpec");
    const answer = await eventually(() => world.ask("unreadable"));
    expect(answer).toMatchObject({ status: 503, headers: { "retry-after": "30" } });
    expect(answer.body).toContain("EK_RESOLVER_SPEC_UNREADABLE");
    expect(await world.replicas("unreadable")).toBe(0);
    const scaleTargetRef = { apiVersion: "apps/v1", kind: "Deployment", name: "unreadable" };
    await world.edit("unreadable", { scaleTargetRef });
    await world.ready("unreadable", "Asleep");
    expect((await world.ask("unreadable")).status).toBe(200);
  },
);

test.concurrent(
  "while its workload sleeps and before a restart, an ElastiService that selects Services from then on and is deleted is removed after its former workload is awake",
  async () => {
    const world = await restarted();
    await world.isGone("selector");
    expect(await world.replicas("selector")).toBe(1);
    expect(await world.ownSlices("selector")).toEqual([]);
    expect((await world.ask("selector")).status).toBe(200);
  },
);
