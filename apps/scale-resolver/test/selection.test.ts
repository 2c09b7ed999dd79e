import { services } from "@evenkeel/kube";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { elastiServices } from "../src/elasti-service-resource.ts";
import { eventually, QUERY, World } from "./world.ts";

let world: World;
beforeEach(async () => {
  world = await World.start({ number: 16 });
  world.metric = 0;
});
afterEach(async () => {
  await world[Symbol.asyncDispose]();
});

/** An ElastiService that selects Services. */
async function selection(name: string, spec: Readonly<Record<string, unknown>>): Promise<void> {
  const metadata = { query: QUERY, serverAddress: world.prometheus.url, threshold: "0.5" };
  await world.kube.resource(elastiServices).create({
    apiVersion: "elasti.truefoundry.com/v1alpha1",
    kind: "ElastiService",
    metadata: { namespace: "default", name },
    spec: { cooldownPeriod: 1, quietPeriod: 1, triggers: [{ type: "prometheus", metadata }], ...spec },
  });
}

async function label(service: string, team: string | null): Promise<void> {
  const body = { metadata: { labels: { team } } };
  await world.kube.resource(services).patch({ namespace: "default", name: service }, { type: "merge", body });
}

async function names(): Promise<readonly string[]> {
  const { items } = await world.kube.resource(elastiServices).list({ namespace: "default" });
  return items.map(({ metadata }) => metadata.name ?? "").sort();
}

describe("an ElastiService with a selector", () => {
  test("has each Service that it selects fall asleep and wake by itself, and lets go of one that it does not select any more", async () => {
    for (const name of ["cart", "search", "login"]) await world.workload(name);
    for (const name of ["cart", "search"]) await label(name, "shop");
    world.serve();
    await selection("team", { selector: { matchLabels: { team: "shop" } } });
    await world.inState("team-cart", "Zero");
    await world.inState("team-search", "Zero");
    expect(await names()).toEqual(["team", "team-cart", "team-search"]);
    await eventually(async () => expect((await world.get("team")).status?.selected).toBe(2));
    expect(await world.replicas("login")).toBe(1);

    expect((await world.ask("cart", { path: "/cart" })).body).toMatch(/^cart-\S+ GET \/cart/);
    expect(await world.replicas("search")).toBe(0);

    await label("search", null);
    await eventually(async () => expect(await names()).toEqual(["team", "team-cart"]));
    expect(await world.replicas("search")).toBe(1);
    expect((await world.ask("search")).status).toBe(200);
  }, 60_000);

  test("that selects all leaves a Service alone that another one names, and its workload's", async () => {
    for (const name of ["cart", "search"]) await world.workload(name);
    world.serve();
    await world.elasti("search", { triggers: undefined });
    await world.inState("search", "Serve");
    await selection("all", { service: "*" });
    await world.inState("all-cart", "Zero");
    expect(await names()).toEqual(["all", "all-cart", "search"]);
    expect(await world.replicas("search")).toBe(1);
    expect((await world.ask("cart")).status).toBe(200);

    // With the one that names it gone, it is selected as any other.
    await world.kube.resource(elastiServices).delete({ namespace: "default", name: "search" });
    await world.inState("all-search", "Zero", 30_000);
    expect(await names()).toEqual(["all", "all-cart", "all-search"]);
  }, 60_000);

  test("that goes leaves everything awake", async () => {
    for (const name of ["cart", "search"]) await world.workload(name);
    world.serve();
    await selection("all", { service: "*" });
    for (const name of ["cart", "search"]) await world.inState(`all-${name}`, "Zero");
    await world.kube.resource(elastiServices).delete({ namespace: "default", name: "all" });
    await eventually(async () => expect(await names()).toEqual([]));
    for (const name of ["cart", "search"]) {
      expect(await world.replicas(name)).toBe(1);
      expect((await world.ask(name)).status).toBe(200);
    }
  }, 60_000);
});
