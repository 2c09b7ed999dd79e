import { FakeClock } from "@evenkeel/runtime/testing";
import { expect, test } from "@jest/globals";
import { NOON } from "../testing/quiet-service.ts";
import { Keda, type KedaOptions } from "./keda.ts";

const never = new AbortController().signal;

function keda(version: string | Error | undefined, minReplicaCount?: number) {
  const labels = typeof version === "string" ? { "app.kubernetes.io/version": version } : {};
  let reads = 0;
  const request = () => {
    reads += 1;
    return version instanceof Error ? Promise.reject(version) : Promise.resolve({ metadata: { labels } });
  };
  const spec = minReplicaCount === undefined ? {} : { minReplicaCount };
  const resource = () => ({ get: () => Promise.resolve({ spec }) });
  const clock = new FakeClock(NOON);
  const service = new Keda({ kube: { request, resource }, clock } as unknown as KedaOptions);
  return { fault: () => service.fault("shop", "scaled", never), clock, reads: () => reads };
}

test.each([
  ["2.17.2", undefined, true],
  ["v2.9.0", 0, true],
  ["1.5.0", 0, true],
  ["2.17.2", 1, false],
  ["2.18.0", 0, false],
  ["2.21.0", undefined, false],
  ["3.0.0", 0, false],
  ["main", 0, false],
  [undefined, 0, false],
  [new Error("forbidden"), 0, false],
])("KEDA %s undoes a wake with minReplicaCount %s: %s", async (version, minReplicaCount, undoes) => {
  const fault = await keda(version, minReplicaCount).fault();
  if (undoes) expect(fault).toMatch(/minReplicaCount.* 1.*2\.18/);
  else expect(fault).toBeNull();
});

test("the version is read seldom", async () => {
  const { fault, clock, reads } = keda("2.17.0");
  await fault();
  await fault();
  expect(reads()).toBe(1);
  await clock.advance(600_000);
  await fault();
  expect(reads()).toBe(2);
});
