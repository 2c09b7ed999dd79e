import { services } from "@evenkeel/kube";
import { eventually } from "@evenkeel/runtime/testing";
import { describe, expect, jest, test } from "@jest/globals";
import { elastiServices } from "../src/elasti-service-resource.ts";
import { World } from "./world.ts";

jest.setTimeout(60_000);

/** An ElastiService that selects Services, all of them idle. */
async function selection(world: World, name: string, spec: Readonly<Record<string, unknown>>): Promise<void> {
  world.traffic.set(name, 0);
  await world.create(name, { cooldownPeriod: 1, quietPeriod: 1, triggers: [world.trigger(name)], ...spec });
}

async function label(world: World, service: string, team: string | null): Promise<void> {
  const body = { metadata: { labels: { team } } };
  await world.kube.resource(services).patch({ namespace: "default", name: service }, { type: "merge", body });
}

async function names(world: World): Promise<readonly string[]> {
  const { items } = await world.kube.resource(elastiServices).list({ namespace: "default" });
  return items.map(({ metadata }) => metadata.name ?? "").sort();
}

describe("an ElastiService with a selector", () => {
  test.concurrent(
    "has each selected Service fall asleep and wake by itself, and releases one that is no longer selected",
    async () => {
      await using world = await World.start();
      world.serve();
      for (const name of ["cart", "search", "login"]) await world.workload(name);
      for (const name of ["cart", "search"]) await label(world, name, "shop");
      await selection(world, "team", { selector: { matchLabels: { team: "shop" } } });
      await world.inState("team-cart", "Zero");
      await world.inState("team-search", "Zero");
      expect(await names(world)).toEqual(["team", "team-cart", "team-search"]);
      await eventually(async () => expect((await world.get("team")).status?.selected).toBe(2));
      expect(await world.replicas("login")).toBe(1);

      expect((await world.ask("cart", { path: "/cart" })).body).toMatch(/^cart-\S+ GET \/cart/);
      expect(await world.replicas("search")).toBe(0);

      await label(world, "search", null);
      await eventually(async () => expect(await names(world)).toEqual(["team", "team-cart"]));
      expect(await world.replicas("search")).toBe(1);
      expect((await world.ask("search")).status).toBe(200);
    },
  );

  test.concurrent(
    "that selects all does not manage a Service that another one names, and wakes everything when it is deleted",
    async () => {
      await using world = await World.start();
      world.serve();
      for (const name of ["cart", "search"]) await world.workload(name);
      await world.elasti("search", { triggers: undefined });
      await world.inState("search", "Serve");
      await selection(world, "all", { service: "*" });
      await world.inState("all-cart", "Zero");
      expect(await names(world)).toEqual(["all", "all-cart", "search"]);
      expect(await world.replicas("search")).toBe(1);
      expect((await world.ask("cart")).status).toBe(200);

      // After the other one is deleted, the Service is selected too.
      await world.delete("search");
      await world.inState("all-search", "Zero", 30_000);
      expect(await names(world)).toEqual(["all", "all-cart", "all-search"]);

      await world.inState("all-cart", "Zero");
      await world.delete("all");
      await eventually(async () => expect(await names(world)).toEqual([]));
      for (const name of ["cart", "search"]) {
        expect(await world.replicas(name)).toBe(1);
        expect((await world.ask(name)).status).toBe(200);
      }
    },
  );
});
