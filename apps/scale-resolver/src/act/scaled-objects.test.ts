import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { FakeClock } from "@evenkeel/runtime/testing";
import { ScaleCluster } from "../../test/scale-cluster.ts";
import type { Binding } from "../binding.ts";
import { bindingOf } from "../observe/binding-of.ts";
import { ScaledObjects } from "./scaled-objects.ts";

describe("a ScaledObject that an ElastiService asks for", () => {
  let cluster: ScaleCluster;
  let clock: FakeClock;
  let scaledObjects: ScaledObjects;

  beforeEach(async () => {
    cluster = new ScaleCluster();
    await cluster.start();
    await cluster.define("keda.sh", "v1alpha1", "ScaledObject", "scaledobjects", false);
    clock = new FakeClock();
    const reach = { address: "scale-resolver.evenkeel-system:9090", tls: true, authentication: undefined };
    scaledObjects = new ScaledObjects({ kube: cluster.kube, clock, ...reach });
  });
  afterEach(() => cluster.stop());

  const keep = (name: string): Promise<void> => {
    const target = { apiVersion: "apps/v1", kind: "Deployment", name };
    const autoscaler = { type: "keda", name, create: true } as const;
    const object = {
      apiVersion: "elasti.truefoundry.com/v1alpha1",
      kind: "ElastiService",
      metadata: { namespace: "shop", name, uid: `uid of ${name}` },
      spec: { service: name, scaleTargetRef: target, cooldownPeriod: 900, autoscaler },
    } as const;
    return scaledObjects.keep(object, bindingOf(object) as Binding);
  };

  test("is applied once a minute while nothing about it changes", async () => {
    await keep("checkout");
    await clock.advance(59_000);
    await keep("checkout");
    expect(cluster.calls).toHaveLength(1);
    await clock.advance(1_000);
    await keep("checkout");
    expect(cluster.calls).toHaveLength(2);
  });

  test("is not remembered for longer than that, so that deleted objects leave no entry", async () => {
    for (let day = 0; day < 5; day++) {
      await keep(`preview-${day}`);
      await keep(`review-${day}`);
      await clock.advance(86_400_000);
    }
    expect(scaledObjects.remembered).toBe(2);
  });
});
