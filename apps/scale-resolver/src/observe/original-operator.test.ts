import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { type Lease, leases } from "@evenkeel/kube";
import { createLogger } from "@evenkeel/runtime";
import { FakeClock } from "@evenkeel/runtime/testing";
import { Cluster } from "../../test/cluster.ts";
import { OriginalOperator } from "./original-operator.ts";

const NAME = "acf50383.truefoundry.io";
const START = Date.parse("2026-01-01T00:00:00Z");
/** The holder and the Lease that the reason names. */
const RENEWED = `elasti-operator-1 (Lease elasti/${NAME})`;

describe("KubeElasti's operator", () => {
  let cluster: Cluster;
  let clock: FakeClock;
  let lines: { readonly level: string }[];

  beforeEach(async () => {
    cluster = await Cluster.start({ manifests: "{apiVersion: v1, kind: Namespace, metadata: {name: elasti}}" });
    clock = new FakeClock(START);
    lines = [];
  });
  afterEach(() => cluster[Symbol.asyncDispose]());

  const operatorSeenBy = (kube: Cluster["kube"]) => {
    const destination = { write: (line: string) => lines.push(JSON.parse(line) as (typeof lines)[number]) };
    const log = createLogger({ service: "test", level: "debug", secrets: [], destination });
    return new OriginalOperator({ leases: kube.resource(leases), name: NAME, clock, log });
  };
  const renew = async (renewTime: string): Promise<void> => {
    const metadata = { namespace: "elasti", name: NAME };
    const spec = { holderIdentity: "elasti-operator-1", leaseDurationSeconds: 15, renewTime };
    const lease: Lease = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata, spec };
    await cluster.kube.resource(leases).apply(lease, { fieldManager: "operator", force: true });
  };

  test("does not run where it has no Lease", async () => {
    expect(await operatorSeenBy(cluster.kube).running()).toBeUndefined();
  });

  test("runs while its Lease is renewed, in whatever namespace, and not fifteen seconds after", async () => {
    const operator = operatorSeenBy(cluster.kube);
    await renew("2026-01-01T00:00:00.000000Z");
    expect(await operator.running()).toContain(RENEWED);
    await clock.advance(10_000);
    await renew("2026-01-01T00:00:10.000000Z");
    expect(await operator.running()).toContain(RENEWED);
    await clock.advance(20_000);
    expect(await operator.running()).toBeUndefined();
  });

  test("counts as not running if Leases may not be listed, which is logged once", async () => {
    await renew("2026-01-01T00:00:00.000000Z");
    cluster.server.addUser({ name: "nobody", token: "nobody" });
    const kube = cluster.connect("nobody");
    const operator = operatorSeenBy(kube);
    expect(await operator.running()).toBeUndefined();
    await clock.advance(10_000);
    expect(await operator.running()).toBeUndefined();
    expect(lines).toMatchObject([{ level: "warn" }]);
    await kube.stop();
  });
});
