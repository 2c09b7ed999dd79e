import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import type { Line } from "@evenkeel/testkit";
import { Berth } from "./berth.ts";
import { Churn } from "./churn.ts";
import { collectedHeap } from "./collected-heap.ts";
import { SnapshotSample } from "./snapshot-sample.ts";
import type { HeapSample, Soaked } from "./verdict.ts";
import { World } from "./world.ts";

const BERTHS = 50;
const probe = pathToFileURL(join(import.meta.dirname, "heap-probe.ts")).href;

/** Longest wait for the weights after all is calm, in seconds. */
const PATIENCE = 60;

export interface SoakOptions {
  readonly minutes: number;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** Called with progress. */
  readonly tell: (line: string) => void;
}

/** Runs the service for so many minutes while its world changes all the time. */
export async function soak({ minutes, random, tell }: SoakOptions): Promise<Soaked & { readonly decisions: number }> {
  const names = Array.from({ length: BERTHS }, (_empty, number) => `s${number}.example.com`);
  await using world = await World.start(names);
  const berths = names.map((_name, number) => new Berth(world, number));
  const socket = join(world.folder, "heap");
  const errors: string[] = [];
  let warnings = 0;
  let decisions = 0;
  let sample = undefined as SnapshotSample | undefined;
  const service = world.serve([], { env: environment(socket), onLine: hear });
  const { origin } = new URL(await service.url("admin", "/"));
  sample = new SnapshotSample(origin, random);
  for (const berth of berths) await berth.moveIn();
  const churn = new Churn(world, berths, random);
  const heap = await live(churn, sample);
  tell(`${churn.refused} changes failed because of injected faults; faults end now`);
  await churn.calm();
  const astray = await settle();
  const replays = sample.replays();
  service.signal("SIGTERM");
  const { code, stderr } = await service.exit;
  return { minutes, heap, errors, stderr, exitCode: code, replays, astray, warnings, decisions };

  function hear(line: Line): void {
    const { level, decision } = line;
    if (level === "error" || level === "fatal") errors.push(JSON.stringify(line));
    if (level === "warn") warnings += 1;
    if (typeof decision !== "string") return;
    decisions += 1;
    sample?.heard(decision);
  }

  /** One churn a second; the heap every five; a hundred and a few more snapshots, spread over the time. */
  async function live(churn: Churn, snapshots: SnapshotSample): Promise<readonly HeapSample[]> {
    const heap: HeapSample[] = [];
    const start = performance.now();
    const seconds = () => (performance.now() - start) / 1000;
    const perStep = 120 / (minutes * 60);
    let due = 0;
    for (let step = 0; seconds() < minutes * 60; step += 1) {
      await churn.step();
      // While a service waits for what it cannot read, it makes no news: those that are missing are taken later.
      due += perStep;
      while (due >= 1 && (await snapshots.take())) due -= 1;
      if (step % 5 === 0) {
        const bytes = await collectedHeap(socket);
        heap.push({ at: seconds(), bytes });
        if (step % 30 === 0) tell(`${Math.round(seconds())} s  heap ${megabytes(bytes)}, ${decisions} decisions`);
      }
      await sleep(Math.max(0, (step + 1) * 1000 - seconds() * 1000));
    }
    return heap;
  }

  async function settle(): Promise<readonly string[]> {
    for (let second = 0; ; second += 1) {
      const astray = berths.flatMap((berth) => berth.astray() ?? []);
      if (astray.length === 0 || second >= PATIENCE) return astray;
      await sleep(1000);
    }
  }
}

export function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(2)} MB`;
}

function environment(socket: string): NodeJS.ProcessEnv {
  return {
    PATH: process.env["PATH"],
    NODE_OPTIONS: `--expose-gc --import=${probe}`,
    SOAK_HEAP_SOCKET: socket,
  };
}
