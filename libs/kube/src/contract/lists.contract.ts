import { beforeAll, describe, expect, test } from "@jest/globals";
import * as errors from "../errors.ts";
import type { ListOptions } from "../objects/resource.ts";
import { pods } from "../objects/resource-types.ts";
import { idlePod } from "./objects.ts";
import { refused, type World } from "./world.ts";

/** Lists: selectors, pages and versions. */
export function listsContract(world: World): void {
  let namespace: string;
  const names = async (options: ListOptions): Promise<(string | undefined)[]> =>
    (await world.configMaps.list({ namespace, labelSelector: "fruit", ...options })).items.map(
      ({ metadata }) => metadata.name,
    );

  beforeAll(async () => {
    namespace = await world.namespace();
    await world.configMap(namespace, "cherry", {}, { fruit: "cherry", color: "red" });
    await world.configMap(namespace, "apple", {}, { fruit: "apple", color: "red" });
    await world.configMap(namespace, "banana", {}, { fruit: "banana", color: "yellow" });
    await world.configMap(namespace, "lemon", {}, { fruit: "lemon", color: "yellow", sour: "" });
  });

  describe("list", () => {
    test("gives the objects of a namespace in the order of their names", async () => {
      expect(await names({})).toEqual(["apple", "banana", "cherry", "lemon"]);
    });

    test("of all namespaces gives those of each", async () => {
      const other = await world.namespace();
      await world.configMap(other, "elsewhere", {}, { fruit: "fig" });
      const { items } = await world.configMaps.list({ labelSelector: "fruit in (fig, lemon)" });
      expect(items.map(({ metadata }) => metadata.namespace)).toEqual(expect.arrayContaining([namespace, other]));
    });

    test("of nothing is empty and has a version", async () => {
      const page = await world.configMaps.list({ namespace, labelSelector: "nobody" });
      expect(page.items).toEqual([]);
      expect(Number(page.resourceVersion)).toBeGreaterThan(0);
      expect(page.continue).toBeUndefined();
    });

    test.each([
      ["color=red", ["apple", "cherry"]],
      ["color==yellow", ["banana", "lemon"]],
      ["color!=red", ["banana", "lemon"]],
      ["color in (red,green)", ["apple", "cherry"]],
      ["fruit notin (apple,banana)", ["cherry", "lemon"]],
      ["sour", ["lemon"]],
      ["!sour", ["apple", "banana", "cherry"]],
      ["color=yellow,sour", ["lemon"]],
    ])("selects by labels: %s", async (selector, expected) => {
      expect(await names({ labelSelector: `fruit,${selector}` })).toEqual(expected);
    });

    test("with a label selector that is none is BadRequest", async () => {
      await refused(world.configMaps.list({ namespace, labelSelector: "a in b)" }), errors.BadRequest);
    });

    test("selects by name", async () => {
      expect(await names({ fieldSelector: "metadata.name=banana" })).toEqual(["banana"]);
      expect(await names({ fieldSelector: "metadata.name!=banana" })).toEqual(["apple", "cherry", "lemon"]);
    });

    test("selects pods by phase and node", async () => {
      const resource = world.admin.resource(pods);
      await resource.create(idlePod(namespace, "idle"));
      const list = async (fieldSelector: string) =>
        (await resource.list({ namespace, fieldSelector })).items.map(({ metadata }) => metadata.name);
      expect(await list("status.phase=Pending,spec.nodeName=")).toEqual(["idle"]);
      expect(await list("status.phase=Running")).toEqual([]);
      expect(await list("spec.nodeName=somewhere")).toEqual([]);
    });

    test("with a field that cannot be selected by is BadRequest", async () => {
      await refused(world.configMaps.list({ namespace, fieldSelector: "data.a=b" }), errors.BadRequest);
    });
  });

  describe("pages", () => {
    let crowd: string;
    beforeAll(async () => {
      crowd = await world.namespace();
      await Promise.all(
        Array.from({ length: 25 }, (_, index) =>
          world.configMap(
            crowd,
            `many-${String(index).padStart(2, "0")}`,
            {},
            { parity: index % 2 === 0 ? "even" : "odd" },
          ),
        ),
      );
    });

    test("cover every object exactly once", async () => {
      const seen: (string | undefined)[] = [];
      const sizes: number[] = [];
      for await (const page of world.configMaps.pages({ namespace: crowd, limit: 10, labelSelector: "parity" })) {
        sizes.push(page.items.length);
        seen.push(...page.items.map(({ metadata }) => metadata.name));
      }
      expect(sizes).toEqual([10, 10, 5]);
      expect(seen).toEqual(Array.from({ length: 25 }, (_, index) => `many-${String(index).padStart(2, "0")}`));
    });

    test("hold as many as asked for of those that a selector chooses", async () => {
      const page = await world.configMaps.list({ namespace: crowd, limit: 5, labelSelector: "parity=odd" });
      expect(page.items).toHaveLength(5);
      expect(page.items.every(({ metadata }) => metadata.labels?.["parity"] === "odd")).toBe(true);
      expect(page.continue).toBeDefined();
    });

    test("say how many objects remain when no selector is given", async () => {
      const all = await world.configMaps.list({ namespace: crowd });
      const page = await world.configMaps.list({ namespace: crowd, limit: 10 });
      expect(page.remainingItemCount).toBe(all.items.length - 10);
    });

    test("are of one moment: what is written between them does not show", async () => {
      const first = await world.configMaps.list({ namespace: crowd, limit: 24, labelSelector: "parity" });
      await world.configMap(crowd, "many-99", {}, { parity: "late" });
      const second = await world.configMaps.list({
        ...{ namespace: crowd, limit: 24, labelSelector: "parity" },
        continue: first.continue,
      });
      await world.configMaps.delete({ namespace: crowd, name: "many-99" });
      expect(second.items.map(({ metadata }) => metadata.name)).toEqual(["many-24"]);
      expect(second.resourceVersion).toBe(first.resourceVersion);
    });

    test("with a continue token that is none are BadRequest", async () => {
      await refused(world.configMaps.list({ namespace: crowd, limit: 5, continue: "garbage" }), errors.BadRequest);
    });

    test("with a continue token that has expired are Gone", async () => {
      const { continue: token } = await world.configMaps.list({ namespace: crowd, limit: 5 });
      await world.harness.expire();
      const error = await refused(world.configMaps.list({ namespace: crowd, limit: 5, continue: token }), errors.Gone);
      expect(error).toMatchObject({ status: 410, reason: "Expired", recovery: "retryable" });
    }, 90_000);
  });

  describe("versions", () => {
    test("list at version 0 returns what the server's cache has", async () => {
      const page = await world.configMaps.list({ namespace, resourceVersion: "0" });
      expect(Number(page.resourceVersion)).toBeGreaterThan(0);
    });

    test("list not older than a version contains what was written at it", async () => {
      const written = await world.configMap(namespace, "not-older");
      const page = await world.configMaps.list({
        namespace,
        resourceVersion: written.metadata.resourceVersion,
        resourceVersionMatch: "NotOlderThan",
      });
      expect(page.items.map(({ metadata }) => metadata.name)).toContain("not-older");
    });

    test("list exactly at a version gives the state of that moment", async () => {
      const written = await world.configMap(namespace, "exact");
      await world.configMaps.delete({ namespace, name: "exact" });
      const { resourceVersion } = written.metadata;
      const page = await world.configMaps.list({
        namespace,
        resourceVersion,
        resourceVersionMatch: "Exact",
        limit: 500,
      });
      expect(page.items.map(({ metadata }) => metadata.name)).toContain("exact");
      expect(page.resourceVersion).toBe(resourceVersion);
    });

    test("list of a version that the server has not seen yet is ResourceVersionTooLarge", async () => {
      const resourceVersion = "1000000000";
      const error = await refused(
        world.configMaps.list({ namespace, resourceVersion, resourceVersionMatch: "NotOlderThan" }),
        errors.ResourceVersionTooLarge,
      );
      expect(error.recovery).toBe("retryable");
    });

    test("list with a match but no version is Invalid", async () => {
      await refused(world.configMaps.list({ namespace, resourceVersionMatch: "Exact" }), errors.Invalid);
    });
  });
}
