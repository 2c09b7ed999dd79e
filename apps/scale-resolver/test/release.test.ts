import { eventually } from "@evenkeel/runtime/testing";
import { afterAll, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { elastiServices, FINALIZER, type StoredElastiService } from "../src/elasti-service-resource.ts";
import { World } from "./world.ts";

jest.setTimeout(60_000);

let world: World;
beforeAll(async () => {
  world = await World.start();
  world.serve();
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
});

/** The resolver's slices of a Service: names, uids and versions. */
async function slicesOf(service: string) {
  const slices = await world.resolverSlices(service);
  return slices.map(({ metadata: { name, uid, resourceVersion } }) => ({ name, uid, resourceVersion }));
}

describe("an ElastiService", () => {
  /** A second ElastiService of a Service, as left by KubeElasti, with its finalizer. */
  async function second(name: string, { spec }: StoredElastiService, status: object = {}): Promise<void> {
    const metadata = { namespace: "default", name, finalizers: [FINALIZER] };
    const resource = world.kube.resource(elastiServices);
    await resource.create({ metadata, spec });
    await resource.status.patch(metadata, { type: "merge", body: { status } });
    await world.ready(name, "Conflict");
  }

  test.concurrent(
    "that is the second of a Service that sleeps is deleted without a change in the path of the first",
    async () => {
      const object = await world.asleep("shop");
      await second("shop-too", object);
      const before = await slicesOf("shop");
      expect(before).toHaveLength(1);
      await world.delete("shop-too");
      await world.isGone("shop-too");
      expect(await slicesOf("shop")).toEqual(before);
      expect(await world.replicas("shop")).toBe(0);
      expect((await world.ask("shop")).status).toBe(200);
    },
  );

  test.concurrent(
    "that is the second of a Service that sleeps gets another Service without a change in the path of the first",
    async () => {
      const object = await world.asleep("cart");
      const { service, scaleTargetRef } = object.spec as Readonly<Record<string, unknown>>;
      // It managed the Service before the first did.
      await second("cart-too", object, { service, scaleTargetRef, state: "Zero", mode: "proxy" });
      const before = await slicesOf("cart");
      await world.workload("cellar");
      await world.edit("cart-too", { service: "cellar", scaleTargetRef: { name: "cellar" }, triggers: null });
      await eventually(async () => expect((await world.get("cart-too")).status?.service).toBe("cellar"));
      await world.inState("cart-too", "Serve");
      expect(await slicesOf("cart")).toEqual(before);
      expect(await world.replicas("cart")).toBe(0);
      expect((await world.ask("cart")).status).toBe(200);
    },
  );

  test.concurrent(
    "whose workload sleeps is released in a dry run after a wake, and what was never redirected stays as it is",
    async () => {
      await using world = await World.start();
      const service = world.serve();
      await Promise.all(["deleted", "pointed"].map((name) => world.asleep(name)));
      service.signal("SIGTERM");
      await service.exit;
      await world.workload("cellar", 0);
      await world.workload("other");
      world.serve(["--dry-run"]);
      await world.elasti("cellar");
      await world.ready("deleted", "Asleep");
      await world.ready("cellar", "NothingServes");
      for (const name of ["deleted", "cellar"]) await world.delete(name);
      // Another one is pointed at another Service.
      await world.edit("pointed", { service: "other", scaleTargetRef: { name: "other" } });
      for (const name of ["deleted", "cellar"]) await world.isGone(name);
      expect([await world.replicas("deleted"), await world.replicas("cellar")]).toEqual([1, 0]);
      await world.isScaledTo("pointed", 1);
      for (const name of ["deleted", "cellar", "pointed"]) await world.isRestored(name);
      await eventually(async () => expect((await world.get("pointed")).status?.service).toBe("other"));
      for (const name of ["deleted", "pointed"]) expect((await world.ask(name)).status).toBe(200);
    },
  );
});
