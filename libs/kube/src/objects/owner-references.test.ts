import { describe, expect, test } from "@jest/globals";
import type { KubeObject } from "./object.ts";
import { controllerOf, isOwnedBy, withOwner } from "./owner-references.ts";

const owner: KubeObject = {
  apiVersion: "otel.k8s.aws/v1",
  kind: "CollectorLoadBalancer",
  metadata: { namespace: "shop", name: "lb", uid: "u1" },
};
const object: KubeObject = { metadata: { namespace: "shop", name: "config" } };

describe("an owner", () => {
  test("is added as controller and found by its uid", () => {
    const owned = withOwner(object, owner);
    expect(owned.metadata.ownerReferences).toEqual([
      {
        apiVersion: "otel.k8s.aws/v1",
        kind: "CollectorLoadBalancer",
        name: "lb",
        uid: "u1",
        controller: true,
        blockOwnerDeletion: true,
      },
    ]);
    expect(controllerOf(owned)?.name).toBe("lb");
    expect(isOwnedBy(owned, owner)).toBe(true);
    expect(isOwnedBy(owned, { ...owner, metadata: { ...owner.metadata, uid: "u2" } })).toBe(false);
    expect(withOwner(owned, owner)).toEqual(owned);
  });

  test("can be one of several, but a second controller is refused", () => {
    const owned = withOwner(object, owner);
    const second = { ...owner, metadata: { ...owner.metadata, name: "lb2", uid: "u2" } };
    expect(() => withOwner(owned, second)).toThrow(expect.objectContaining({ code: "EK_KUBE_BAD_OWNER" }));
    expect(withOwner(owned, second, { controller: false }).metadata.ownerReferences).toHaveLength(2);
  });

  test.each([
    ["in another namespace", { ...owner, metadata: { ...owner.metadata, namespace: "bank" } }],
    ["without a uid", { ...owner, metadata: { name: "lb" } }],
    ["without a kind", { apiVersion: "v1", metadata: owner.metadata }],
  ])("%s is refused, because the API server would delete the object", (_why, bad) => {
    expect(() => withOwner(object, bad)).toThrow(expect.objectContaining({ code: "EK_KUBE_BAD_OWNER" }));
  });

  test("that is cluster-scoped may own what is in a namespace, but not the other way round", () => {
    const node: KubeObject = { apiVersion: "v1", kind: "Node", metadata: { name: "a", uid: "n" } };
    expect(controllerOf(withOwner(object, node))?.name).toBe("a");
    expect(() => withOwner(node, owner)).toThrow(expect.objectContaining({ code: "EK_KUBE_BAD_OWNER" }));
  });
});
