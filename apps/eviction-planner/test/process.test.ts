import { join } from "node:path";
import { eventually } from "@evenkeel/runtime/testing";
import { ADMIN, World, worldParts } from "@evenkeel/testkit";
import { expect, test } from "@jest/globals";

/** What the image holds; `nx run eviction-planner:integration` makes it first. */
const main = join(import.meta.dirname, "../dist/main.mjs");

test("keeps the level that is asked for, says why, and stops when it is told to", async () => {
  await using world = new World(await worldParts({ service: "eviction-planner", main, kinds: ["evictionplanners"] }));
  world.api.load(`
{apiVersion: v1, kind: ConfigMap, metadata: {name: harbour}, data: {level: "7"}}
---
{apiVersion: evenkeel.io/v1alpha1, kind: EvictionPlanner, metadata: {name: harbour}, spec: {configMap: harbour, level: 5}}`);
  const read = async (path: string) => {
    const headers = { authorization: `Bearer ${ADMIN.token}` };
    return (await fetch(`${world.api.url}/${path}/harbour`, { headers })).json();
  };
  const service = world.serve(["--interval=1s"]);

  await eventually(async () =>
    expect(await read("api/v1/namespaces/default/configmaps")).toMatchObject({ data: { level: "5" } }),
  );
  await eventually(async () =>
    expect(await read("apis/evenkeel.io/v1alpha1/namespaces/default/evictionplanners")).toMatchObject({
      status: { level: 5, conditions: [{ type: "Ready", status: "True", reason: "OnTarget" }] },
    }),
  );
  const list = await fetch(await service.url("admin", "/api/v1/Objects/Get"));
  expect(await list.json()).toMatchObject({ objects: [{ name: { name: "harbour" }, value: 5, reason: "OnTarget" }] });
  service.signal("SIGTERM");
  expect((await service.exit).code).toBe(0);
});
