import { describe, expect, jest, test } from "@jest/globals";
import { eventually } from "@evenkeel/runtime/testing";
import { WatchedService } from "./watched-service.ts";
import { twoSites, World } from "./world.ts";

jest.setTimeout(60_000);

/** Sets the record `blue` to 99 while the first batch is on its way, as another client would. */
function editMeanwhile({ route53 }: World): void {
  let edited = false;
  const when = ({ method }: { method?: string | undefined }) => {
    if (method !== "POST" || edited) return false;
    edited = true;
    const records = twoSites("www.example.com").map((record) => ({ ...record, ttl: 30 }));
    route53.addZone(
      "Z1",
      "example.com",
      records.map((record) => (record.setIdentifier === "blue" ? { ...record, weight: 99 } : record)),
    );
    return false;
  };
  route53.faults.add({ fault: { kind: "reset" }, when });
}

describe("a weight that another client sets between the last read and the write", () => {
  test("stays with onExternalChange: yield, and the status names it", async () => {
    await using world = await World.start();
    // The first reconcile finds the weight as decided, so that it knows which weight is its own.
    world.metric = 1125;
    await world.create("checkout", { onExternalChange: "yield" });
    await using service = new WatchedService(world);
    await eventually(() => expect(service.decided.at(-1)?.verdict.reason).toBe("InStep"));
    editMeanwhile(world);
    world.metric = 3000;
    await eventually(async () => {
      const ready = (await world.get("checkout")).status?.conditions?.find(({ type }) => type === "Ready");
      expect(ready).toMatchObject({ reason: "ExternalChange", message: expect.stringContaining("to 99 instead of 1") });
    });
    expect(world.weight()).toBe(99);
    expect(world.route53.journal).toEqual([]);
  });

  test("is replaced with onExternalChange: enforce, after a decision that names it, and its TTL stays", async () => {
    await using world = await World.start();
    world.metric = 1125;
    await world.create("checkout");
    await using service = new WatchedService(world);
    await eventually(() => expect(service.decided.at(-1)?.verdict.reason).toBe("InStep"));
    editMeanwhile(world);
    world.metric = 3000;
    await eventually(() => expect(world.weight()).toBe(16));
    expect(world.route53.journal).toMatchObject([{ before: { weight: 99 }, after: { weight: 16, ttl: 30 } }]);
    const messages = service.decided.map(({ verdict }) => verdict.message);
    expect(messages).toContainEqual(expect.stringContaining("to 99 instead of 1"));
  });
});
