// A process that fills a store by the reflector of libs/kube from the server at argv[2] and says what it cost.
import { type Pod, pods, Reflector, Store } from "@evenkeel/kube";
import { createLogger, systemClock } from "@evenkeel/runtime";
import { benchClient } from "../bench-client.ts";
import { liveHeap, watchStalls } from "../stall.ts";

const kube = benchClient(process.argv[2] ?? "");
await kube.start({ signal: new AbortController().signal });
const resource = kube.resource(pods);
const log = createLogger({ service: "bench", level: "warn", secrets: [], destination: process.stderr });
const before = liveHeap();
const store = new Store<Pod>({ log });
const streamLists = process.argv[3] === "stream";
const reflector = new Reflector({
  name: "pods",
  resource,
  store,
  clock: systemClock,
  random: Math.random,
  log,
  streamLists,
});
const stalls = watchStalls();
const began = performance.now();
reflector.start();
await store.whenSynced(new AbortController().signal);
const took = performance.now() - began;
const stall = stalls.longest();
const heap = liveHeap() - before;
const kept = store.size;

const calls = Array.from({ length: 200 }, () => resource.get({ namespace: "one", name: "one" }));
await Promise.all(calls);
console.log(JSON.stringify({ kept, took, stall, heap }));
process.exit(0);
