import { beforeAll, describe, expect, test } from "@jest/globals";
import { eventually } from "@evenkeel/runtime/testing";
import * as errors from "../errors.ts";
import { type Deployment, deployments, type Pod, pods } from "../objects/resource-types.ts";
import { idlePod, pausedDeployment, readyStatus } from "./objects.ts";
import { nameOf, refused, type World } from "./world.ts";

/** The status and the scale of an object. */
export function partsContract(world: World): void {
  let namespace: string;
  beforeAll(async () => {
    namespace = await world.namespace();
  });

  const pod = (name: string): Promise<Pod> => world.admin.resource(pods).create(idlePod(namespace, name));
  const deployment = (name: string, replicas = 0): Promise<Deployment> =>
    world.admin.resource(deployments).create(pausedDeployment(namespace, name, replicas));

  describe("status", () => {
    test("is written separately: a write of it changes nothing else", async () => {
      const created = await pod("apart");
      const changed = { ...created, spec: { ...created.spec, activeDeadlineSeconds: 60 }, status: readyStatus };
      const written = await world.admin.resource(pods).status.replace(changed as unknown as Pod);
      expect(written.status?.phase).toBe("Running");
      const read = await world.admin.resource(pods).get(nameOf(created));
      expect([read.status?.phase, read.spec?.activeDeadlineSeconds]).toEqual(["Running", undefined]);
    });

    test("is not written with the object", async () => {
      const created = await pod("ignored");
      const changed = { ...created, metadata: { ...created.metadata, labels: { a: "b" } }, status: readyStatus };
      const written = await world.admin.resource(pods).replace(changed);
      expect([written.status?.phase, written.metadata.labels]).toEqual(["Pending", { a: "b" }]);
    });

    test("takes patches", async () => {
      const created = await pod("patched");
      const patch = { type: "merge", body: { status: readyStatus } } as const;
      const written = await world.admin.resource(pods).status.patch(nameOf(created), patch);
      expect(written.status?.conditions).toMatchObject([{ type: "Ready", status: "True" }]);
    });

    test("can be read by itself", async () => {
      const created = await pod("read");
      const read = await world.admin.resource(pods).status.get(nameOf(created));
      expect([read.metadata.uid, read.status?.phase]).toEqual([created.metadata.uid, "Pending"]);
    });

    test("of an outdated version is Conflict", async () => {
      const created = await pod("conflict");
      const patch = { type: "merge", body: { metadata: { labels: { a: "b" } } } } as const;
      await world.admin.resource(pods).patch(nameOf(created), patch);
      await refused(world.admin.resource(pods).status.replace(created), errors.Conflict);
    });

    test("does not increase the generation", async () => {
      const created = await deployment("generation");
      const patch = { type: "merge", body: { status: { collisionCount: 3 } } } as const;
      const written = await world.admin.resource(deployments).status.patch(nameOf(created), patch);
      expect([written.metadata.generation, written.status?.collisionCount]).toEqual([1, 3]);
    });

    test("of a type that has none is NotFound", async () => {
      const created = await world.configMap(namespace, "statusless");
      await refused(world.configMaps.status.get(nameOf(created)), errors.NotFound);
    });
  });

  describe("scale", () => {
    test("has the replicas and the selector", async () => {
      const created = await deployment("told", 2);
      const scale = await world.admin.resource(deployments).scale.get(nameOf(created));
      expect(scale).toMatchObject({
        ...{ apiVersion: "autoscaling/v1", kind: "Scale", spec: { replicas: 2 } },
        status: { selector: "app=told" },
      });
    });

    test("is written into the object", async () => {
      const created = await deployment("written");
      const { scale } = world.admin.resource(deployments);
      // The deployment's controller writes too, so the first attempt may conflict.
      const written = await eventually(async () => {
        return scale.replace({ ...(await scale.get(nameOf(created))), spec: { replicas: 3 } });
      });
      expect(written.spec.replicas).toBe(3);
      const { spec, metadata } = await world.admin.resource(deployments).get(nameOf(created));
      expect([spec?.replicas, metadata.generation]).toEqual([3, 2]);
    });

    test("takes patches", async () => {
      const created = await deployment("patched");
      const patch = { type: "merge", body: { spec: { replicas: 4 } } } as const;
      expect((await world.admin.resource(deployments).scale.patch(nameOf(created), patch)).spec.replicas).toBe(4);
    });

    test("at zero has no spec.replicas, and the zero in its status", async () => {
      const created = await deployment("zero");
      const scale = await world.admin.resource(deployments).scale.get(nameOf(created));
      expect([scale.spec, scale.status?.replicas]).toEqual([{}, 0]);
    });

    test("at zero is set by a json patch that tests for an empty spec, and no other is", async () => {
      const created = await deployment("woken");
      const { scale } = world.admin.resource(deployments);
      const operations = [
        { op: "test", path: "/spec", value: {} },
        { op: "add", path: "/spec/replicas", value: 1 },
      ] as const;
      expect((await scale.patch(nameOf(created), { type: "json", operations })).spec).toEqual({ replicas: 1 });
      const error = await refused(scale.patch(nameOf(created), { type: "json", operations }), errors.Invalid);
      expect([error.status, error.causes]).toEqual([422, []]);
      expect((await scale.get(nameOf(created))).spec).toEqual({ replicas: 1 });
    });

    test("at zero is not found to be zero by a json patch", async () => {
      const created = await deployment("untested");
      const operations = [{ op: "test", path: "/spec/replicas", value: 0 }] as const;
      const patch = { type: "json", operations } as const;
      await refused(world.admin.resource(deployments).scale.patch(nameOf(created), patch), errors.Invalid);
    });

    test("is set to zero by a json patch that tests for the number it was, and once only", async () => {
      const created = await deployment("slept", 3);
      const { scale } = world.admin.resource(deployments);
      const operations = [
        { op: "test", path: "/spec/replicas", value: 3 },
        { op: "replace", path: "/spec/replicas", value: 0 },
      ] as const;
      const patch = { type: "json", operations } as const;
      expect((await scale.patch(nameOf(created), patch)).spec).toEqual({});
      await refused(scale.patch(nameOf(created), patch), errors.Invalid);
      const { spec } = await world.admin.resource(deployments).get(nameOf(created));
      expect(spec?.replicas).toBe(0);
    });

    test("of an outdated version is Conflict", async () => {
      const created = await deployment("conflict");
      const { scale } = world.admin.resource(deployments);
      const read = await scale.get(nameOf(created));
      await scale.patch(nameOf(created), { type: "merge", body: { spec: { replicas: 1 } } });
      await refused(scale.replace({ ...read, spec: { replicas: 2 } }), errors.Conflict);
    });

    test("below zero is Invalid and names the field", async () => {
      const created = await deployment("negative");
      const patch = { type: "merge", body: { spec: { replicas: -1 } } } as const;
      const error = await refused(
        world.admin.resource(deployments).scale.patch(nameOf(created), patch),
        errors.Invalid,
      );
      expect(error.causes[0]?.field).toBe("spec.replicas");
    });

    test("of a type that has none is NotFound", async () => {
      const created = await world.configMap(namespace, "scaleless");
      await refused(world.configMaps.scale.get(nameOf(created)), errors.NotFound);
    });
  });
}
