import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { type KubeObject, kubeErrors, type ResourceTypeOf, statefulSets } from "@evenkeel/kube";
import type { CodedError } from "@evenkeel/runtime";
import type { TargetRef } from "../binding.ts";
import { ScaleCluster } from "../../test/scale-cluster.ts";
import * as errors from "./errors.ts";
import { Scales } from "./scales.ts";

const checkout: TargetRef = { apiVersion: "apps/v1", kind: "Deployment", name: "checkout" };
const SCALE = "/apis/apps/v1/namespaces/shop/deployments/checkout/scale";

describe("the replicas of a workload", () => {
  let cluster: ScaleCluster;
  let scales: Scales;

  beforeEach(async () => {
    cluster = new ScaleCluster();
    await cluster.start();
    scales = new Scales(cluster.kube);
  });
  afterEach(() => cluster.stop());

  const codeOf = (call: Promise<unknown>): Promise<string> =>
    call.then(
      (value) => `no error but ${String(value)}`,
      (error: unknown) => (error as CodedError).code,
    );

  const custom = (group: string, version: string, kind: string, plural: string): ResourceTypeOf<KubeObject> => ({
    ...{ group, version, kind, plural, namespaced: true },
  });

  const create = async (type: ResourceTypeOf<KubeObject>, name: string, replicas: number): Promise<void> => {
    const object = { metadata: { namespace: "shop", name }, spec: { replicas } };
    await cluster.admin.resource(type).create(object);
  };

  test("are read, zero included", async () => {
    await cluster.deployment("checkout", 3);
    expect(await scales.read("shop", checkout)).toBe(3);
    await cluster.setReplicas("checkout", 0);
    expect(await scales.read("shop", checkout)).toBe(0);
  });

  test("go from none to the requested number, in one call", async () => {
    await cluster.deployment("checkout", 0);
    expect(await scales.wake("shop", checkout, 2)).toBe("woken");
    expect(await cluster.replicas("checkout")).toBe(2);
    expect(cluster.calls).toEqual([`PATCH ${SCALE}`]);
  });

  test("are left alone by a wake if there are some", async () => {
    await cluster.deployment("checkout", 5);
    expect(await scales.wake("shop", checkout, 1)).toBe("awake");
    expect(await cluster.replicas("checkout")).toBe(5);
  });

  test("are woken once by many that wake them together", async () => {
    await cluster.deployment("checkout", 0);
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => scales.wake("shop", checkout, 1)));
    expect(outcomes.filter((outcome) => outcome === "woken")).toEqual(["woken"]);
  });

  test("go from what was seen to none, in one call", async () => {
    await cluster.deployment("checkout", 3);
    expect(await scales.sleep("shop", checkout, 3)).toBe("slept");
    expect(await cluster.replicas("checkout")).toBe(0);
    expect(cluster.calls).toEqual([`PATCH ${SCALE}`]);
  });

  test.each([1, 4, 0])("are left alone by a sleep that saw 3 if there are %i", async (replicas) => {
    await cluster.deployment("checkout", replicas);
    expect(await scales.sleep("shop", checkout, 3)).toBe("changed");
    expect(await cluster.replicas("checkout")).toBe(replicas);
  });

  test("are woken although they changed twice during the retry", async () => {
    await cluster.deployment("checkout", 1);
    cluster.before = async (call): Promise<"pass"> => {
      if (call.startsWith("GET")) await cluster.setReplicas("checkout", 0);
      return "pass";
    };
    expect(await scales.wake("shop", checkout, 2)).toBe("woken");
    expect(await cluster.replicas("checkout")).toBe(2);
  });

  test("that the server does not take are its refusal, not a change by another", async () => {
    await cluster.deployment("checkout", 0);
    expect(await codeOf(scales.wake("shop", checkout, -1))).toBe(kubeErrors.Invalid.entry.code);
    expect(await cluster.replicas("checkout")).toBe(0);
  });

  describe("of each kind", () => {
    test("StatefulSet", async () => {
      const labels = { app: "db" };
      const template = { metadata: { labels }, spec: { containers: [{ name: "main", image: "example.com/db:1" }] } };
      const spec = { replicas: 0, serviceName: "db", selector: { matchLabels: labels }, template };
      await cluster.admin.resource(statefulSets).create({ metadata: { namespace: "shop", name: "db" }, spec });
      expect(await scales.wake("shop", { ...checkout, kind: "StatefulSet", name: "db" }, 1)).toBe("woken");
      expect(cluster.calls).toEqual(["PATCH /apis/apps/v1/namespaces/shop/statefulsets/db/scale"]);
    });

    test.each(["Rollout", "rollouts"])("%s of Argo, without discovery", async (kind) => {
      await cluster.define("argoproj.io", "v1alpha1", "Rollout", "rollouts");
      await create(custom("argoproj.io", "v1alpha1", "Rollout", "rollouts"), "checkout", 0);
      const rollout = { apiVersion: "argoproj.io/v1alpha1", kind, name: "checkout" };
      expect(await scales.wake("shop", rollout, 1)).toBe("woken");
      expect(await scales.read("shop", rollout)).toBe(1);
      expect(cluster.calls[0]).toBe("PATCH /apis/argoproj.io/v1alpha1/namespaces/shop/rollouts/checkout/scale");
    });

    test("deployments, as older manifests name it", async () => {
      await cluster.deployment("checkout", 0);
      expect(await scales.wake("shop", { ...checkout, kind: "deployments" }, 1)).toBe("woken");
    });

    test("any with a scale subresource, discovered once", async () => {
      cluster.server.load(grant("example.com", "geese/scale"));
      await cluster.define("example.com", "v1", "Goose", "geese");
      await create(custom("example.com", "v1", "Goose", "geese"), "gander", 0);
      const gander = { apiVersion: "example.com/v1", kind: "Goose", name: "gander" };
      await scales.prepare(gander);
      expect(await scales.wake("shop", gander, 1)).toBe("woken");
      expect(await scales.read("shop", gander)).toBe(1);
      expect(await scales.sleep("shop", gander, 1)).toBe("slept");
      const path = "/apis/example.com/v1/namespaces/shop/geese/gander/scale";
      expect(cluster.calls).toEqual(["GET /apis/example.com/v1", `PATCH ${path}`, `GET ${path}`, `PATCH ${path}`]);
    });

    test("one that is installed later is found then", async () => {
      cluster.server.load(grant("example.com", "geese/scale"));
      const gander = { apiVersion: "example.com/v1", kind: "Goose", name: "gander" };
      expect(await codeOf(scales.wake("shop", gander, 1))).toBe(errors.TargetKindUnknown.entry.code);
      await cluster.define("example.com", "v1", "Goose", "geese");
      await create(custom("example.com", "v1", "Goose", "geese"), "gander", 0);
      expect(await scales.wake("shop", gander, 1)).toBe("woken");
    });

    test("one whose discovery failed is discovered again", async () => {
      cluster.server.load(grant("example.com", "geese/scale"));
      await cluster.define("example.com", "v1", "Goose", "geese");
      await create(custom("example.com", "v1", "Goose", "geese"), "gander", 0);
      const gander = { apiVersion: "example.com/v1", kind: "Goose", name: "gander" };
      cluster.faults.add({ fault: { kind: "status", code: 500 }, times: 1 });
      expect(await codeOf(scales.wake("shop", gander, 1))).toBe(kubeErrors.ServerFault.entry.code);
      expect(await scales.wake("shop", gander, 1)).toBe("woken");
    });
  });

  describe("that cannot be had", () => {
    test("of a workload that does not exist", async () => {
      expect(await codeOf(scales.read("shop", checkout))).toBe(errors.TargetNotFound.entry.code);
      expect(await codeOf(scales.wake("shop", checkout, 1))).toBe(errors.TargetNotFound.entry.code);
      expect(await codeOf(scales.sleep("shop", checkout, 1))).toBe(errors.TargetNotFound.entry.code);
    });

    test("of a Rollout where there are no Rollouts", async () => {
      const rollout = { apiVersion: "argoproj.io/v1alpha1", kind: "Rollout", name: "checkout" };
      expect(await codeOf(scales.wake("shop", rollout, 1))).toBe(errors.TargetKindUnknown.entry.code);
    });

    test("of an unknown kind", async () => {
      const target = { ...checkout, kind: "Sandcastle" };
      expect(await codeOf(scales.wake("shop", target, 1))).toBe(errors.TargetKindUnknown.entry.code);
    });

    test("of a kind without the part scale", async () => {
      const target = { ...checkout, kind: "DaemonSet" };
      expect(await codeOf(scales.wake("shop", target, 1))).toBe(errors.TargetNotScalable.entry.code);
    });

    test("of a kind that is in no namespace", async () => {
      const target = { apiVersion: "v1", kind: "Node", name: "node-1" };
      expect(await codeOf(scales.wake("shop", target, 1))).toBe(errors.TargetNotScalable.entry.code);
    });

    test.each(["", "apps/v1/../../..", "../v1", "a/b/c", "apps/v1?x", "a..b/v1", "Apps/v1"])(
      "of the API version %j, for which nothing is sent",
      async (apiVersion) => {
        expect(await codeOf(scales.wake("shop", { ...checkout, apiVersion }, 1))).toBe(errors.BadTarget.entry.code);
        expect(cluster.calls).toEqual([]);
      },
    );

    test("of a workload without the right to its scale", async () => {
      const replicaSet = { apiVersion: "apps/v1", kind: "ReplicaSet", name: "checkout" };
      expect(await codeOf(scales.read("shop", replicaSet))).toBe(errors.TargetForbidden.entry.code);
      expect(await codeOf(scales.wake("shop", replicaSet, 1))).toBe(errors.TargetForbidden.entry.code);
    });

    test.each([
      [{ kind: "status", code: 503 }, kubeErrors.ServerUnavailable],
      [{ kind: "reset" }, kubeErrors.ConnectionLost],
      [{ kind: "hang" }, kubeErrors.Timeout],
    ] as const)("while the server answers with %j, and nothing is done twice", async (fault, Class) => {
      await cluster.deployment("checkout", 3);
      cluster.faults.add({ fault, verb: "patch" });
      const call = scales.sleep("shop", checkout, 3, { deadline: 200 });
      expect(await codeOf(call)).toBe(Class.entry.code);
      expect([await cluster.replicas("checkout"), cluster.calls.length]).toEqual([3, 1]);
    });
  });
});

function grant(group: string, resource: string): string {
  return `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: { name: granted }
rules: [{ apiGroups: [${group}], resources: [${resource}], verbs: [get, patch] }]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: { name: granted }
subjects: [{ kind: User, name: resolver, apiGroup: rbac.authorization.k8s.io }]
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: granted }
`;
}
