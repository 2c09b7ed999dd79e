import { setTimeout as pause } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { at, type Json, listAt, numberAt, sameJson, textAt } from "../src/bodies/json-text.ts";
import { DEPLOYMENTS, deployment, type Got, ThreeClusters, type Trouble } from "./three-clusters.ts";

let world: ThreeClusters;
beforeAll(async () => void (world = await ThreeClusters.start({ deadline: 500 })));
afterAll(async () => world.stop());
afterEach(() => world.troubles.clear());

const TROUBLES: readonly Trouble[] = [
  ...(["cut", "hang", "cut after"] as const),
  ...[409, 422, 429, 500].map((status) => ({ status })),
  { status: 400, message: "the webhook does not support dry run" },
  /** Slow, and within the deadline. */
  () => pause(50),
];

/** When it goes wrong. */
const STEPS = {
  read: ({ method }: { method: string }) => method === "GET",
  "dry run": ({ isDryRun }: { isDryRun: boolean }) => isDryRun,
  commit: ({ method, isDryRun }: { method: string; isDryRun: boolean }) => method !== "GET" && !isDryRun,
};

const WRITES: Readonly<Record<string, (name: string) => Promise<Got>>> = {
  POST: async (name) => world.ask("POST", DEPLOYMENTS, JSON.stringify(deployment(name, 9))),
  PATCH: async (name) =>
    world.ask("PATCH", `${DEPLOYMENTS}/${name}`, '{"spec":{"replicas":20}}', {
      "content-type": "application/merge-patch+json",
    }),
  PUT: async (name) => world.ask("PUT", `${DEPLOYMENTS}/${name}`, JSON.stringify(deployment(name, 15))),
  apply: async (name) =>
    world.ask("PATCH", `${DEPLOYMENTS}/${name}?fieldManager=kubectl&force=true`, JSON.stringify(deployment(name, 12)), {
      "content-type": "application/apply-patch+yaml",
    }),
  "PUT scale": async (name) =>
    world.ask(
      "PUT",
      `${DEPLOYMENTS}/${name}/scale`,
      JSON.stringify({
        apiVersion: "autoscaling/v1",
        kind: "Scale",
        metadata: { name, namespace: "default" },
        spec: { replicas: 2 },
      }),
    ),
};

let count = 0;
const isSame = (one: Json | undefined, other: Json | undefined) =>
  (one === undefined) === (other === undefined) && sameJson(at(one, ["spec"]), at(other, ["spec"]));
const sum = (each: Record<string, Json | undefined>) =>
  Object.values(each).reduce<number>(
    (all, object) => all + (object === undefined ? 0 : (numberAt(object, ["spec", "replicas"]) ?? 1)),
    0,
  );

const cases = Object.keys(WRITES).flatMap((write) =>
  Object.keys(STEPS).flatMap((step) => ["a", "b"].map((cluster) => [write, step, cluster] as const)),
);

test.each(cases)(
  "%s with trouble in the %s of %s: all as asked, all as before, or the answer says which is not",
  async (write, step, cluster) => {
    for (const trouble of TROUBLES) {
      world.troubles.clear();
      const name = `web-${(count += 1)}`;
      const path = `${DEPLOYMENTS}/${name}`;
      if (write !== "POST") await world.ask("POST", DEPLOYMENTS, JSON.stringify(deployment(name, 9)));
      const before = await world.each(path);
      world.trouble({
        cluster,
        trouble,
        hits: STEPS[step as keyof typeof STEPS],
      });
      const decided = world.verdicts.length;
      const got = await WRITES[write]?.(name);
      const after = await world.each(path);
      if (got === undefined) throw new Error("no such write");
      // The record of decisions has what was carried out, once, and nothing that was refused.
      expect({ trouble, decided: world.verdicts.length - decided }).toEqual({
        trouble,
        decided: got.status < 300 ? 1 : 0,
      });
      if (got.status < 300) {
        expect(sum(after)).toBe({ POST: 9, PATCH: 20, PUT: 15, apply: 12, "PUT scale": 2 }[write]);
        continue;
      }
      const causes = listAt(got.json, ["details", "causes"]);
      const named = causes.filter((cause) => ["NotPutBack", "LeftChanged"].includes(textAt(cause, ["reason"]) ?? ""));
      const names = named.map((cause) => textAt(cause, ["field"]));
      const unsaid = ["a", "b", "c"].filter((one) => !isSame(before[one], after[one]) && !names.includes(one));
      expect({ trouble, unsaid, status: got.status }).toEqual({
        trouble,
        unsaid: [],
        status: got.status,
      });
    }
  },
);

test.each([
  ["dry run", "a"],
  ["dry run", "b"],
  ["commit", "a"],
  ["commit", "b"],
] as const)(
  "DELETE with trouble in the %s of %s: all gone, all there, or the answer says where it is gone",
  async (step, cluster) => {
    for (const trouble of TROUBLES) {
      world.troubles.clear();
      const name = `web-${(count += 1)}`;
      const path = `${DEPLOYMENTS}/${name}`;
      await WRITES["POST"]?.(name);
      world.trouble({ cluster, trouble, hits: STEPS[step] });
      const got = await world.ask("DELETE", path);
      const after = await world.each(path);
      const gone = ["a", "b", "c"].filter((one) => after[one] === undefined);
      if (got.status < 300) {
        expect({ trouble, gone }).toEqual({ trouble, gone: ["a", "b", "c"] });
        continue;
      }
      const causes = listAt(got.json, ["details", "causes"]);
      const named = (...reasons: string[]) =>
        causes
          .filter((cause) => reasons.includes(textAt(cause, ["reason"]) ?? ""))
          .map((cause) => textAt(cause, ["field"]));
      // A member that gave no answer may have done it.
      expect({ trouble, gone }).toEqual({
        trouble,
        gone: gone.filter((one) => named("Deleted", "Unreachable").includes(one)),
      });
      expect({ trouble, gone: expect.arrayContaining(named("Deleted")) }).toEqual({ trouble, gone });
    }
  },
);

describe("what a client is told", () => {
  test("a member that refuses dry runs is written without", async () => {
    world.trouble({
      cluster: "b",
      trouble: { status: 400, message: "it does not support dry run" },
      hits: STEPS["dry run"],
    });
    const name = `web-${(count += 1)}`;
    expect(await WRITES["POST"]?.(name)).toMatchObject({ status: 201 });
    expect(sum(await world.each(`${DEPLOYMENTS}/${name}`))).toBe(9);
  });
  test("a commit that fails in one member is undone in the others, and each member's result is told", async () => {
    const name = `web-${(count += 1)}`;
    await WRITES["POST"]?.(name);
    world.trouble({
      cluster: "c",
      trouble: { status: 500 },
      hits: STEPS.commit,
    });
    const got = await WRITES["PATCH"]?.(name);
    expect(got?.status).toBe(500);
    expect(
      listAt(got?.json, ["details", "causes"]).map((cause) => [textAt(cause, ["field"]), textAt(cause, ["reason"])]),
    ).toEqual([
      ["a", "PutBack"],
      ["b", "PutBack"],
      ["c", "PutBack"],
    ]);
    expect(sum(await world.each(`${DEPLOYMENTS}/${name}`))).toBe(9);
  });
});

test("two writers at once: the sum is one that somebody asked for, and who lost is told 409", async () => {
  const name = `web-${(count += 1)}`;
  await WRITES["POST"]?.(name);
  let current = 9;
  for (let round = 0; round < 25; round += 1) {
    const asked = [10 + round, 50 + round];
    const got = await Promise.all(
      asked.map(async (replicas) =>
        world.ask("PATCH", `${DEPLOYMENTS}/${name}`, JSON.stringify({ spec: { replicas } }), {
          "content-type": "application/merge-patch+json",
        }),
      ),
    );
    const total = sum(await world.each(`${DEPLOYMENTS}/${name}`));
    const won = asked.filter((_replicas, index) => got[index]?.status === 200);
    expect(won.length === 0 ? [current] : won).toContain(total);
    expect(got.every(({ status }) => status === 200 || status === 409)).toBe(true);
    current = total;
  }
});
