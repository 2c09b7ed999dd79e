import { namespaces } from "@evenkeel/kube";
import { FakeClock } from "@evenkeel/runtime/testing";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { Cluster } from "../../test/cluster.ts";
import { Mesh } from "./mesh.ts";

const AMBIENT = { "istio.io/dataplane-mode": "ambient" };

describe("endpoints of the resolver", () => {
  let cluster: Cluster;
  let clock: FakeClock;
  beforeEach(async () => {
    cluster = await Cluster.start();
    clock = new FakeClock();
  });
  afterEach(() => cluster[Symbol.asyncDispose]());

  const mesh = (targetRef?: boolean) => new Mesh({ kube: cluster.kube, clock, targetRef });
  const create = (name: string, labels: Readonly<Record<string, string>> = {}) =>
    cluster.kube.resource(namespaces).create({ metadata: { name, labels } });

  test.each([
    ["name its pod in a namespace without a mesh", {}, true],
    ["do not in ambient mode", AMBIENT, false],
    ["name it where sidecars are injected", { "istio-injection": "enabled" }, true],
    ["name it where sidecars of a revision are injected", { "istio.io/rev": "canary" }, true],
    ["name it where both labels are set", { ...AMBIENT, "istio-injection": "enabled" }, true],
    ["name it where ambient mode is turned off", { "istio.io/dataplane-mode": "none" }, true],
  ])("%s", async (_name, labels, expected) => {
    await create("shop", labels);
    expect(await mesh().namesPod("shop")).toBe(expected);
  });

  test.each([true, false])("are as --path-target-ref says, whatever the labels are: %s", async (targetRef) => {
    await create("shop", targetRef ? AMBIENT : {});
    expect(await mesh(targetRef).namesPod("shop")).toBe(targetRef);
  });

  test("follow a change of the labels, and name the pod while these cannot be read", async () => {
    const found = mesh();
    expect(await found.namesPod("shop")).toBe(true);
    await create("shop", AMBIENT);
    await clock.advance(5000);
    expect(await found.namesPod("shop")).toBe(false);
    await cluster.kube.resource(namespaces).delete({ name: "shop" });
    await clock.advance(60_000);
    expect(await found.namesPod("shop")).toBe(false);
  });
});
