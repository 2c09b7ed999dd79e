// A process that reads a large cluster and its usage from the server at argv[2], plans in a worker and prints what that
// took as one line of JSON. It is started with the flags of the image.
import { defaultPolicy, listCluster, metricsApi, planInWorker, snapshotOf } from "@evenkeel/eviction-planner/observe";
import { systemClock } from "@evenkeel/runtime";
import { benchClient } from "../bench-client.ts";
import { watchStalls } from "../stall.ts";

const [url = "", moves = "", worker = ""] = process.argv.slice(2);

export interface Ingest {
  readonly pods: number;
  readonly moves: number;
  /** Milliseconds for which the main thread was kept busy at most. */
  readonly stall: number;
  /** Bytes. */
  readonly peakRss: number;
}

const { signal } = new AbortController();
const kube = benchClient(url);
await kube.start({ signal });
const stalls = watchStalls();
const { objects } = await listCluster(kube, { signal });
const usage = await metricsApi(kube, systemClock).read(signal);
const { name, spec } = defaultPolicy();
const snapshot = await snapshotOf(objects, usage, {
  at: Date.now(),
  policy: { name, spec: { ...spec, targetSigma: 0.01 } },
  budget: Number(moves),
  memory: null,
  emptyDirLimit: 2 * 2 ** 30,
});
const made = await planInWorker(snapshot, worker, signal);
const result: Ingest = {
  pods: snapshot.cluster.pods.uid.length,
  moves: made.moves.length,
  stall: stalls.longest(),
  peakRss: process.resourceUsage().maxRSS * 1024,
};
console.log(JSON.stringify(result));
process.exit(0);
