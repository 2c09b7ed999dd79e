import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import {
  foldersFrom,
  identify,
  isAlive,
  type ProcessIdentity,
  RunFolder,
  runsFolder,
  startCluster,
  thisHost,
  waitUntil,
} from "@evenkeel/control-plane";
import { describe, expect, test } from "@jest/globals";
import { START_TIMEOUT_MS } from "../src/index.ts";

function identities(pids: readonly number[]): ProcessIdentity[] {
  const found = pids.flatMap((pid) => identify(pid) ?? []);
  expect(found).toHaveLength(pids.length);
  return found;
}

/** Starts a program that owns a cluster. */
async function startOwner(): Promise<{
  kill: (signal: NodeJS.Signals) => Promise<void>;
  processes: ProcessIdentity[];
}> {
  const owner = spawn(process.execPath, [join(import.meta.dirname, "../src/cluster-owner.ts")], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = (await once(createInterface(owner.stdout), "line")) as [string];
  const kill = async (signal: NodeJS.Signals): Promise<void> => {
    const exit = once(owner, "exit");
    owner.kill(signal);
    await exit;
  };
  return { kill, processes: identities(JSON.parse(line) as number[]) };
}

describe("stopping", () => {
  test(
    "leaves logs and no process, however often it is done",
    async () => {
      const cluster = await startCluster({ name: "stopped", nodes: 1 });
      const processes = identities(cluster.components().map(({ pid }) => pid));
      expect(processes).toHaveLength(5);
      await Promise.all([cluster.stop(), cluster.stop()]);
      await cluster.stop();
      expect(processes.filter(isAlive)).toEqual([]);
      expect(readdirSync(join(cluster.logs, "..")).sort()).toEqual(["logs", "run.json"]);
      expect(existsSync(join(cluster.logs, "kube-apiserver.log"))).toBe(true);
    },
    START_TIMEOUT_MS,
  );

  test(
    "ends components that are paused",
    async () => {
      const cluster = await startCluster({ name: "paused", nodes: 0 });
      const processes = identities(cluster.components().map(({ pid }) => pid));
      cluster.pause("etcd");
      cluster.pause("kwok");
      await cluster.stop();
      expect(processes.filter(isAlive)).toEqual([]);
    },
    START_TIMEOUT_MS,
  );
});

describe("an owner's end", () => {
  test(
    "by SIGTERM takes its cluster along",
    async () => {
      const { kill, processes } = await startOwner();
      await kill("SIGTERM");
      await waitUntil("its processes are gone", () => (processes.some(isAlive) ? "some run" : undefined));
    },
    START_TIMEOUT_MS,
  );

  test(
    "by SIGKILL leaves orphans that the next start ends, and nobody else's process",
    async () => {
      const { kill, processes } = await startOwner();
      await kill("SIGKILL");
      expect(processes.map(isAlive)).toEqual(processes.map(() => true));

      const bystander = spawn("sleep", ["600"], { stdio: "ignore" });
      const [identity] = identities([bystander.pid ?? 0]);
      if (identity === undefined) throw new Error("the bystander did not start");
      const recycled = { pid: identity.pid, startTicks: identity.startTicks - 1 };
      const forged = RunFolder.create(runsFolder(foldersFrom(process.env)), {
        ...{ name: "forged", host: thisHost(), owner: recycled, startedAt: new Date().toISOString(), endedAt: null },
        ...{
          startupMs: 1,
          server: "https://127.0.0.1:1",
          nodes: 0,
          bin: "/",
          realNode: null,
          processes: [{ component: "etcd", ...recycled }],
        },
      });
      try {
        await using next = await startCluster({ name: "next", nodes: 0 });
        expect(processes.filter(isAlive)).toEqual([]);
        expect(isAlive(identity)).toBe(true);
        expect(forged.read().endedAt).not.toBeNull();
        expect(next.components().every(({ running }) => running)).toBe(true);
      } finally {
        bystander.kill("SIGKILL");
        forged.remove();
      }
    },
    START_TIMEOUT_MS,
  );
});
