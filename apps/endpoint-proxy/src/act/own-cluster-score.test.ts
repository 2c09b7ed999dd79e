import { type CallOptions, PAUSED, Store } from "@evenkeel/kube";
import { termUntil } from "@evenkeel/runtime";
import { FakeClock, silentLog } from "@evenkeel/runtime/testing";
import { expect, test } from "@jest/globals";
import type { StoredClusterScore } from "../cluster-score-resource.ts";
import { OwnClusterScore } from "./own-cluster-score.ts";

const { signal } = new AbortController();
const metadata = { namespace: "wao-system", name: "tokyo", uid: "first", generation: 1 };
const own: StoredClusterScore = {
  ...{ apiVersion: "waoendpointproxy.bitmedia.co.jp/v1beta1", kind: "ClusterScore", metadata },
  spec: { endpoint: "https://tokyo.example.com", owncluster: true, region: "osaka" },
};

/**
 * Keeps a ClusterScore whose region is no longer that of the nodes. `change` happens after it was read and before the
 * patch is sent. Gives the patches that were sent.
 */
function keeping(object: StoredClusterScore, change: (store: Store<StoredClusterScore>) => void, held = () => true) {
  const store = new Store<StoredClusterScore>({ log: silentLog() });
  Array.from(store.replace(store.draft()));
  store.put(object);
  const sent: unknown[] = [];
  const score = new OwnClusterScore({
    resource: {
      create: () => Promise.reject(new Error("created")),
      patch: async (_name: unknown, patch: unknown, { beforeSend }: CallOptions = {}) => {
        change(store);
        await Promise.resolve();
        beforeSend?.();
        sent.push(patch);
        return object;
      },
    },
    store,
    nodes: { regions: () => ["tokyo"], whenSynced: () => Promise.resolve() },
    identity: { uid: () => Promise.resolve("uid") },
    original: { live: () => Promise.resolve(null) },
    ...{ namespace: "wao-system", clusterName: undefined, endpoint: "", dryRun: false },
    ...{ clock: new FakeClock(), log: silentLog() },
  });
  return { sent, kept: score.keep(termUntil(signal, 1n, held)) };
}

test("the region of the nodes is written", async () => {
  const { sent, kept } = keeping(own, () => undefined);
  await kept;
  expect(sent).toMatchObject([{ body: { spec: { region: "tokyo" } } }]);
});

test.each<[string, Partial<StoredClusterScore["metadata"]>]>([
  ["was paused", { annotations: { [PAUSED]: "true" } }],
  ["was edited", { generation: 2 }],
  ["is terminating", { generation: 2, deletionTimestamp: "2026-11-01T00:00:00Z" }],
  ["was replaced", { uid: "second" }],
])("an own ClusterScore that %s before the write is not written", async (_what, change) => {
  const { sent, kept } = keeping(own, (store) => store.put({ ...own, metadata: { ...metadata, ...change } }));
  await expect(kept).rejects.toMatchObject({ code: "EK_KUBE_ACT_OVERTAKEN" });
  expect(sent).toEqual([]);
});

test("a former leader does not write", async () => {
  let isHeld = true;
  const { sent, kept } = keeping(
    own,
    () => (isHeld = false),
    () => isHeld,
  );
  await expect(kept).rejects.toMatchObject({ code: "EK_KUBE_ACT_OVERTAKEN" });
  expect(sent).toEqual([]);
});

test("an own ClusterScore that is terminating is left alone", async () => {
  const terminating = { ...own, metadata: { ...metadata, deletionTimestamp: "2026-11-01T00:00:00Z" } };
  const { sent, kept } = keeping(terminating, () => undefined);
  await kept;
  expect(sent).toEqual([]);
});
