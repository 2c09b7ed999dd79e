import { expect, test } from "@jest/globals";
import { build } from "esbuild";
import { plan } from "../../decide/plan.ts";
import { PlanFailed } from "../../errors.ts";
import { fixtureSnapshot } from "../../testing/fixture-snapshot.ts";
import { packSnapshot } from "./pack-snapshot.ts";
import { unpackSnapshot } from "./packed-snapshot.ts";
import { planInWorker } from "./plan-in-worker.ts";

const program = new URL("../../testing/plan-worker.ts", import.meta.url).href;
const never = new AbortController().signal;

test("a snapshot is the same after it was packed", async () => {
  const snapshot = await fixtureSnapshot();
  expect(unpackSnapshot(await packSnapshot(snapshot))).toEqual(snapshot);
  const { pods } = snapshot.cluster;
  const none = { ...pods, uid: [], name: [], shape: [] };
  const empty = { ...snapshot, cluster: { ...snapshot.cluster, pods: none } };
  expect(unpackSnapshot(await packSnapshot(empty))).toEqual(empty);
});

test("a plan of another thread is that of this one", async () => {
  const snapshot = await fixtureSnapshot();
  const planned = await planInWorker(snapshot, program, never);
  expect(planned.moves.length).toBeGreaterThan(0);
  expect(planned).toEqual(plan(snapshot));
});

test("a plan can be aborted, and a thread that fails says why", async () => {
  const snapshot = await fixtureSnapshot();
  const controller = new AbortController();
  const planned = planInWorker(snapshot, program, controller.signal);
  controller.abort(new Error("enough"));
  await expect(planned).rejects.toThrow("enough");
  const broken = {
    ...snapshot,
    cluster: { ...snapshot.cluster, owners: [] },
    policy: { name: "x", spec: null as never },
  };
  await expect(planInWorker(broken, program, never)).rejects.toBeInstanceOf(PlanFailed);
});

test("a thread that plans loads nothing but pure code, because each plan starts one", async () => {
  const entryPoints = [new URL("answer-plan.ts", import.meta.url).pathname];
  const { metafile } = await build({ entryPoints, bundle: true, platform: "node", write: false, metafile: true });
  const libs = Object.keys(metafile.inputs).map((path) => /(?:libs\/\w+|node_modules\/[^/]+)\//.exec(path)?.[0]);
  expect(new Set(libs)).toEqual(new Set([undefined, "libs/placement/", "libs/scoring/"]));
});
