import {
  kubeErrors,
  type KubeObject,
  Reflector,
  type ReflectorOptions,
  type Resource,
  type ResourceTypeOf,
  Store,
} from "@evenkeel/kube";
import { FakeClock, silentLog } from "@evenkeel/runtime/testing";
import { expect, test } from "@jest/globals";
import { followCluster } from "./follow-cluster.ts";

const MINUTE = 60_000;
const { signal } = new AbortController();
const tooMany = new kubeErrors.TooManyRequests(
  { call: "watch", message: "slow down" },
  { status: 429, reason: "TooManyRequests", causes: [] },
);
const silent = new kubeErrors.WatchSilent({ call: "watch", milliseconds: 100_000 });

/** The cluster as real reflectors follow it. Each kind is empty, and its watch has nothing to tell. */
async function follow() {
  const clock = new FakeClock();
  const log = silentLog();
  const cuts = new Map<string, (error: Error) => void>();
  const refused = new Map<string, Error>();
  const reflectors: Reflector<KubeObject>[] = [];
  const resource = (plural: string) =>
    ({
      list: () => Promise.reject(refused.get(plural) ?? new Error("the first state is streamed")),
      async *watch({ sendInitialEvents = false }) {
        const fault = refused.get(plural);
        if (fault !== undefined) throw fault;
        if (sendInitialEvents) yield { type: "BOOKMARK", resourceVersion: "1", initialEventsEnd: true };
        await new Promise((_resolve, reject) => cuts.set(plural, reject));
      },
    }) as unknown as Resource<KubeObject>;
  const reflect = (
    { plural }: ResourceTypeOf<KubeObject>,
    { onFault }: Pick<ReflectorOptions<KubeObject>, "onFault">,
  ) => {
    const store = new Store<KubeObject>({ log });
    const about = { name: plural, resource: resource(plural), store, onFault };
    const reflector = new Reflector({ ...about, clock, random: () => 0, log });
    reflectors.push(reflector);
    reflector.start();
    return store;
  };
  const cluster = followCluster({ reflect, common: { clock } } as unknown as Parameters<typeof followCluster>[0]);
  await clock.advance(0);
  await cluster.whenSynced(signal);
  const fail = (plural: string, error: Error) => {
    refused.set(plural, error);
    cuts.get(plural)?.(error);
  };
  const stop = async (): Promise<void> => {
    const stopped = Promise.all(reflectors.map((reflector) => reflector.stop()));
    for (const cut of cuts.values()) cut(new Error("it ends"));
    await stopped;
  };
  return { clock, cluster, cuts, refused, fail, stop };
}

test("a kind whose lists and watches fail for more than three minutes counts as not listed, until they work", async () => {
  const { clock, cluster, cuts, refused, fail, stop } = await follow();
  const since = new Date(clock.now()).toISOString();
  fail("pods", tooMany);
  await clock.advance(2 * MINUTE);
  await cluster.whenSynced(signal);
  await clock.advance(2 * MINUTE);
  const message = expect.stringContaining(`pods (failing since ${since})`) as unknown;
  await expect(cluster.whenSynced(signal)).rejects.toMatchObject({ code: "EK_PLANNER_NOT_LISTED", message });
  refused.delete("pods");
  // The watch goes on from where it was, and has nothing to tell.
  await clock.advance(MINUTE);
  cuts.get("pods")?.(silent);
  await clock.advance(0);
  await cluster.whenSynced(signal);
  await stop();
});

test("kinds of which nothing changes are current, also after their watch was cut once", async () => {
  const { clock, cluster, cuts, stop } = await follow();
  await clock.advance(4 * MINUTE);
  await cluster.whenSynced(signal);
  cuts.get("poddisruptionbudgets")?.(new kubeErrors.ConnectionLost({ call: "watch", fault: "reset" }));
  await clock.advance(MINUTE);
  cuts.get("poddisruptionbudgets")?.(silent);
  await clock.advance(4 * MINUTE);
  await cluster.whenSynced(signal);
  await stop();
});
