import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { deployments, type KubeClient, nodes, pods } from "@evenkeel/kube";
import { simNode } from "@evenkeel/sim";
import { benchClient } from "../bench-client.ts";
import { barred, figure, median } from "../result.ts";
import type { Suite } from "../suite.ts";

const NODES = 500;
const DEPLOYMENTS = 60;
const REPLICAS = 250;
const WATCHERS = 50;
const CHANGES = 500;
const STARTS = 5;

const program = (name: string) => join(import.meta.dirname, "../sim", name);

async function ask<T>(child: ChildProcess): Promise<T> {
  child.send("?");
  return told<T>(child);
}

async function told<T>(child: ChildProcess): Promise<T> {
  const [answer] = (await once(child, "message")) as [T];
  return answer;
}

async function startWorld(): Promise<{ world: ChildProcess; url: string; took: number }> {
  const began = performance.now();
  const world = fork(program("world.ts"));
  const { url } = await told<{ url: string }>(world);
  return { world, url, took: performance.now() - began };
}

function deployment(name: string) {
  const labels = { app: name };
  const containers = [
    { name: "main", image: "images.invalid/main:1", resources: { requests: { cpu: "100m", memory: "64Mi" } } },
  ];
  const template = { metadata: { labels }, spec: { containers } };
  return {
    metadata: { namespace: "default", name },
    spec: { replicas: REPLICAS, selector: { matchLabels: labels }, template },
  };
}

/** Waits until every pod runs. */
async function settle(kube: KubeClient): Promise<void> {
  for (;;) {
    let running = 0;
    for await (const { items } of kube.resource(pods).pages({ limit: 1000 })) {
      running += items.filter(({ status }) => status?.phase === "Running").length;
    }
    if (running >= DEPLOYMENTS * REPLICAS) return;
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
}

/** The embedded world at the size of a large cluster. */
export const sim: Suite = {
  name: "sim",
  about: "the embedded world: start-up, memory with 500 nodes and 15,000 pods, stall while 50 watchers are told",
  async run(progress) {
    const starts: number[] = [];
    for (let round = 0; round < STARTS; round++) {
      const { world, took } = await startWorld();
      starts.push(took);
      world.kill();
    }
    const { world, url } = await startWorld();
    const kube = benchClient(url, "bench");
    try {
      for (let index = 0; index < NODES; index++) {
        await kube.resource(nodes).create(simNode(`node-${index}`, { cpu: "16", memory: "64Gi", pods: 110 }));
      }
      for (let index = 0; index < DEPLOYMENTS; index++)
        await kube.resource(deployments).create(deployment(`app-${index}`));
      progress(`${NODES} nodes and ${DEPLOYMENTS} Deployments are created`);
      await settle(kube);
      progress(`${DEPLOYMENTS * REPLICAS} pods run`);
      const { rss, stall: filling } = await ask<{ rss: number; stall: number }>(world);

      const watchers = fork(program("watchers.ts"), [url, String(WATCHERS)]);
      await told(watchers);
      const { items } = await kube.resource(pods).list({ limit: CHANGES });
      await ask(world);
      for (const { metadata } of items) {
        const body = { metadata: { labels: { bench: "changed" } } };
        await kube.resource(pods).patch({ namespace: "default", name: metadata.name ?? "" }, { type: "merge", body });
      }
      while ((await ask<{ seen: number }>(watchers)).seen < WATCHERS * CHANGES)
        await new Promise((resolve) => setTimeout(resolve, 100));
      const { stall } = await ask<{ stall: number }>(world);
      watchers.kill();
      return {
        results: [
          barred("start, from spawn to listening", median(starts) / 1000, "s", "<= 1"),
          barred(`memory with ${NODES} nodes and ${DEPLOYMENTS * REPLICAS} pods`, rss / 1e6, "MB", "<= 600"),
          figure("longest stall while it is filled", filling, "ms"),
          barred(`longest stall while ${WATCHERS} watchers are told of ${CHANGES} changes`, stall, "ms", "<= 50"),
        ],
        plot: {
          title: "Start of the embedded world",
          unit: "ms",
          series: [{ name: "spawn to listening", values: starts, middle: median(starts) }],
        },
      };
    } finally {
      await kube.stop();
      world.kill();
    }
  },
};
