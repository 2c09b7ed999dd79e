import { beforeEach, describe, expect, test } from "@jest/globals";
import { eventually } from "@evenkeel/runtime/testing";
import * as errors from "../errors.ts";
import { evict } from "../objects/evict.ts";
import { podDisruptionBudgets, type Pod, pods } from "../objects/resource-types.ts";
import { idlePod, readyStatus } from "./objects.ts";
import { isGone, nameOf, refused, type World } from "./world.ts";

/** Evictions and disruption budgets. */
export function evictionContract(world: World): void {
  let namespace: string;
  beforeEach(async () => {
    namespace = await world.namespace();
  });

  const labels = { app: "guarded" };
  const create = (name: string): Promise<Pod> => world.admin.resource(pods).create(idlePod(namespace, name, labels));
  const createReady = async (name: string): Promise<Pod> => {
    const patch = { type: "merge", body: { status: readyStatus } } as const;
    return world.admin.resource(pods).status.patch(nameOf(await create(name)), patch);
  };
  const gone = (pod: Pod): Promise<boolean> => isGone(world.admin.resource(pods), nameOf(pod));

  /** A budget whose status has `healthy` pods. If a controller runs, it computes the same figures. */
  const guard = async (name: string, minAvailable: number, healthy: number): Promise<void> => {
    const budgets = world.admin.resource(podDisruptionBudgets);
    const disruptionsAllowed = Math.max(0, healthy - minAvailable);
    const spec = { minAvailable, selector: { matchLabels: labels } };
    const created = await budgets.create({ metadata: { namespace, name }, spec });
    const status = {
      ...{ disruptionsAllowed, currentHealthy: healthy, desiredHealthy: minAvailable, expectedPods: healthy },
      observedGeneration: 1,
    };
    await budgets.status.patch(nameOf(created), { type: "merge", body: { status } });
    await eventually(async () => {
      const read = await budgets.get(nameOf(created));
      return read.status?.currentHealthy === healthy && read.status.disruptionsAllowed === disruptionsAllowed;
    });
  };

  describe("evict", () => {
    test("removes a pod that nothing guards", async () => {
      const pod = await createReady("free");
      await evict(world.admin, nameOf(pod));
      expect(await gone(pod)).toBe(true);
    });

    test("of a pod that is gone is NotFound", async () => {
      await refused(evict(world.admin, { namespace, name: "absent" }), errors.NotFound);
    });

    test("of another pod of the same name, by uid, is Conflict", async () => {
      const pod = await createReady("reborn");
      const uid = "00000000-0000-4000-8000-000000000000";
      await refused(evict(world.admin, nameOf(pod), { uid }), errors.Conflict);
      expect(await gone(pod)).toBe(false);
      await evict(world.admin, nameOf(pod), { uid: pod.metadata.uid ?? "" });
      expect(await gone(pod)).toBe(true);
    });

    test("as a dry run removes nothing", async () => {
      const pod = await createReady("dry");
      await evict(world.admin, nameOf(pod), { dryRun: true });
      expect(await gone(pod)).toBe(false);
    });

    test("that a budget forbids is EvictionBlocked, not TooManyRequests", async () => {
      const pod = await createReady("needed");
      await guard("strict", 1, 1);
      const error = await refused(evict(world.admin, nameOf(pod)), errors.EvictionBlocked);
      expect(error).toMatchObject({ status: 429, reason: "TooManyRequests", recovery: "retryable" });
      expect(error.causes[0]?.reason).toBe("DisruptionBudget");
      expect(error.causes[0]?.message).toContain("strict");
      expect(await gone(pod)).toBe(false);
    });

    test("that a budget forbids is forbidden as a dry run too", async () => {
      const pod = await createReady("needed");
      await guard("strict", 1, 1);
      await refused(evict(world.admin, nameOf(pod), { dryRun: true }), errors.EvictionBlocked);
    });

    test("works until the budget is used up", async () => {
      const [first, second] = [await createReady("first"), await createReady("second")];
      await guard("one-spare", 1, 2);
      await evict(world.admin, nameOf(first));
      expect(await gone(first)).toBe(true);
      await refused(evict(world.admin, nameOf(second)), errors.EvictionBlocked);
      expect(await gone(second)).toBe(false);
    });

    test("of a pod that never ran ignores budgets", async () => {
      const pod = await create("pending");
      await createReady("needed");
      await guard("strict", 1, 1);
      await evict(world.admin, nameOf(pod));
      expect(await gone(pod)).toBe(true);
    });

    test("under two budgets is ServerFault, and is not retried", async () => {
      const pod = await createReady("doubly");
      await guard("one", 1, 1);
      await guard("two", 1, 1);
      const error = await refused(evict(world.admin, nameOf(pod)), errors.ServerFault);
      expect(error.message).toContain("more than one PodDisruptionBudget");
    });
  });
}
