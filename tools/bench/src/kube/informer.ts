// A process that fills client-node's own informer from the server at argv[2] and says what it cost.
import { CoreV1Api, KubeConfig, makeInformer, type V1Pod } from "@kubernetes/client-node";
import { liveHeap, watchStalls } from "../stall.ts";

const config = new KubeConfig();
config.loadFromClusterAndUser({ name: "bench", server: process.argv[2] ?? "", skipTLSVerify: true }, { name: "bench" });
const api = config.makeApiClient(CoreV1Api);
const before = liveHeap();
const informer = makeInformer<V1Pod>(config, "/api/v1/pods", () => api.listPodForAllNamespaces());
const stalls = watchStalls();
const began = performance.now();
await informer.start();
const took = performance.now() - began;
const stall = stalls.longest();
const heap = liveHeap() - before;
const kept = informer.list().length;

const calls = Array.from({ length: 200 }, () => api.readNamespacedPod({ name: "one", namespace: "one" }));
await Promise.all(calls);
console.log(JSON.stringify({ kept, took, stall, heap }));
process.exit(0);
