// A process that fills a store by the reflector of libs/kube from the server at argv[2] and says what it cost.
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connectKube, type Pod, pods, Reflector, Store } from "@evenkeel/kube";
import { createLogger, systemClock } from "@evenkeel/runtime";
import { liveHeap, watchStalls } from "./stall.ts";

const kubeconfig = join(mkdtempSync(join(tmpdir(), "bench-kube-")), "config");
writeFileSync(
  kubeconfig,
  JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    "current-context": "bench",
    clusters: [{ name: "bench", cluster: { server: process.argv[2] } }],
    users: [{ name: "bench", user: {} }],
    contexts: [{ name: "bench", context: { cluster: "bench", user: "bench" } }],
  }),
);
const settings = {
  kubeconfig,
  kubeContext: undefined,
  kubeDeadline: 30_000,
  kubeConnections: 4,
  kubeQps: 0,
  kubeBurst: 100,
};
const kube = connectKube({ settings, env: {}, userAgent: "bench" });
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
