import { Store } from "@evenkeel/kube";
import { silentLog } from "@evenkeel/runtime/testing";
import { describe, expect, test } from "@jest/globals";
import type { StoredElastiService } from "../elasti-service-resource.ts";
import { Bindings, namedService, recordedBinding } from "./bindings.ts";

const GOOD = {
  service: "checkout",
  scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "checkout" },
  minTargetReplicas: 3,
  hold: { timeout: "90s" },
};
const BAD = { ...GOOD, triggers: [{ type: "no such" }] };
const RECORDED = { service: "checkout", scaleTargetRef: GOOD.scaleTargetRef };

let version = 0;
const elastiService = (spec: unknown, more: Partial<StoredElastiService> = {}): StoredElastiService => ({
  apiVersion: "elasti.truefoundry.com/v1alpha1",
  kind: "ElastiService",
  spec,
  ...more,
  metadata: {
    ...{ namespace: "shop", name: "checkout", uid: "u1", generation: (version += 1) },
    ...{ resourceVersion: `${version}`, creationTimestamp: "2026-01-01T00:00:00Z" },
    ...more.metadata,
  },
});

/** Bindings of a store in which these were, one after the other. */
function bindingsAfter(...objects: readonly StoredElastiService[]) {
  const log = silentLog();
  const store = new Store<StoredElastiService, "service">({ log, indexes: { service: namedService } });
  const bindings = new Bindings(store);
  for (const object of objects) store.put(object);
  return { bindings, store };
}

test("a binding is the same object while the spec is, so that what it has compiled is kept", () => {
  const first = elastiService(GOOD);
  const { bindings, store } = bindingsAfter(first);
  const { generation = 0 } = first.metadata;
  const touched = elastiService(GOOD, { status: RECORDED, metadata: { generation } });
  const edited = elastiService({ ...GOOD, minTargetReplicas: 5 });
  const bindingOf = (object: StoredElastiService) => {
    store.put(object);
    const understood = bindings.understand(object);
    return understood.kind === "service" ? understood.binding : undefined;
  };
  const before = bindingOf(first);
  expect(bindingOf(touched)).toBe(before);
  expect(bindingOf(edited)).toMatchObject({ minReplicas: 5 });
});

describe("a spec that cannot be understood", () => {
  test("keeps the last valid one in force, and reports the error", () => {
    const bad = elastiService({ ...BAD, minTargetReplicas: 9 });
    const { bindings } = bindingsAfter(elastiService(GOOD), bad);
    const understood = bindings.understand(bad);
    expect(understood).toMatchObject({
      kind: "service",
      binding: { minReplicas: 3, hold: { timeout: 90_000 }, generation: bad.metadata.generation },
      fault: expect.stringMatching(/spec\.triggers\[0\]\.type: /),
    });
    expect(bindings.ownerOf("shop/checkout")).toEqual(bad);
  });

  test("keeps it in force until the next valid one", () => {
    const good = elastiService({ ...GOOD, minTargetReplicas: 4 });
    const { bindings, store } = bindingsAfter(elastiService(GOOD), elastiService(BAD), elastiService({ service: 1 }));
    expect(bindings.ownerOf("shop/checkout")).toBeUndefined();
    const recorded = elastiService({ service: 1 }, { status: RECORDED });
    store.put(recorded);
    expect(bindings.ownerOf("shop/checkout")).toEqual(recorded);
    expect(bindings.understand(recorded)).toMatchObject({ kind: "service", binding: { minReplicas: 3 } });
    store.put(good);
    expect(bindings.understand(good)).not.toHaveProperty("fault");
    expect(bindings.understand(good)).toMatchObject({ binding: { minReplicas: 4 } });
  });

  test("that names another Service keeps managing the old one, and does not change the other", () => {
    const bad = elastiService({ ...BAD, service: "other" }, { status: RECORDED });
    const { bindings } = bindingsAfter(elastiService(GOOD), bad);
    expect(bindings.ownerOf("shop/checkout")).toEqual(bad);
    expect(bindings.ownerOf("shop/other")).toBeUndefined();
  });

  test("is not mended by what another object of the same name had", () => {
    const other = elastiService({ service: 1 }, { metadata: { uid: "u2" } });
    const { bindings } = bindingsAfter(elastiService(GOOD), other);
    expect(bindings.understand(other)).toMatchObject({ kind: "invalid" });
  });

  test("is forgotten with its object", () => {
    const { bindings, store } = bindingsAfter(elastiService(GOOD));
    store.remove(elastiService(GOOD));
    expect(bindings.understand(elastiService({ service: 1 }))).toMatchObject({ kind: "invalid" });
  });

  test("of one that selected Services says nothing of a single one", () => {
    const bad = elastiService({ selector: { matchLabels: { a: 1 } }, ...GOOD });
    const { bindings } = bindingsAfter(elastiService({ service: "*" }), bad);
    expect(bindings.understand(bad)).toMatchObject({ kind: "invalid" });
  });
});

describe("a spec that cannot be understood by a process that knows of no good one", () => {
  const understood = (spec: unknown, status = {}) => {
    const object = elastiService(spec, { status });
    return bindingsAfter(object).bindings.understand(object);
  };

  test("wakes by what can be read of it, and does nothing else", () => {
    const bad = { ...BAD, autoscaler: { type: "keda", name: "scaled" }, dial: "no such", cooldownPeriod: -1 };
    expect(understood(bad)).toMatchObject({
      kind: "service",
      binding: {
        ...{ service: "checkout", target: GOOD.scaleTargetRef, minReplicas: 3, dial: "pod", triggers: [] },
        ...{ hold: { timeout: 90_000 }, autoscaler: { type: "keda", name: "scaled" } },
      },
      fault: expect.stringMatching(/^Requests wake .*spec\.dial: /),
    });
  });

  test.each<[string, unknown]>([
    ["no workload", { service: "checkout", minTargetReplicas: 2 }],
    ["no workload that makes sense", { ...GOOD, scaleTargetRef: "checkout" }],
    ["no Service", { scaleTargetRef: GOOD.scaleTargetRef }],
    ["nothing", undefined],
    ["nonsense", [1, 2]],
  ])("wakes the workload on record if it names %s", (_name, spec) => {
    expect(understood(spec, RECORDED)).toMatchObject({
      kind: "service",
      binding: { service: "checkout", target: GOOD.scaleTargetRef },
    });
  });

  test("says nothing if neither it nor the status names a workload", () => {
    const object = elastiService({ service: "checkout" }, { status: { service: "checkout" } });
    const { bindings } = bindingsAfter(object);
    expect(bindings.understand(object)).toMatchObject({ kind: "invalid" });
    expect(bindings.ownerOf("shop/checkout")).toBeUndefined();
    expect(bindings.brokenOwnerOf("shop/checkout")).toEqual(object);
    expect(bindings.brokenOwnerOf("shop/other")).toBeUndefined();
  });
});

test("the binding of the Service in a status is recorded, whatever the spec says now", () => {
  expect(recordedBinding(elastiService({ service: "*" }, { status: RECORDED }))).toMatchObject({
    service: "checkout",
    target: GOOD.scaleTargetRef,
  });
  expect(recordedBinding(elastiService(GOOD))).toBeUndefined();
});
