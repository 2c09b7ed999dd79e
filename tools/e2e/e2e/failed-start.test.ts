import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  buildBinaries,
  CLUSTER_BINARIES,
  type ClusterOptions,
  ControlPlaneError,
  foldersFrom,
  isAlive,
  RunFolder,
  runsFolder,
  startCluster,
} from "@evenkeel/control-plane";
import { expect, test } from "@jest/globals";
import { START_TIMEOUT_MS } from "../src/index.ts";

/** Starts a cluster that must not come up and gives the error. Nothing may be left running. */
async function failedStart(options: ClusterOptions): Promise<ControlPlaneError> {
  const name = options.name ?? "failed";
  const error: unknown = await startCluster({ nodes: 0, name, ...options }).then(
    async (cluster) => {
      await cluster.stop();
      throw new Error("the cluster came up");
    },
    (reason: unknown) => reason,
  );
  if (!(error instanceof ControlPlaneError)) throw error;
  const runs = RunFolder.list(runsFolder(foldersFrom(process.env))).filter(({ record }) => record.name === name);
  expect(runs.filter(({ state }) => state !== "ended")).toEqual([]);
  expect(runs.flatMap(({ record }) => record.processes).filter(isAlive)).toEqual([]);
  return error;
}

test(
  "a component that crashes is named with its exit code, its log and what it said last",
  async () => {
    const { code, message } = await failedStart({ name: "crash", apiserverFlags: ["--no-such-flag"] });
    expect(code).toBe("EK_CLUSTER_COMPONENT_EXITED");
    expect(message).toContain("kube-apiserver ended with code 1 before it was ready");
    expect(message).toMatch(/last lines of \S+\/crash-[0-9a-f]+\/logs\/kube-apiserver\.log:/);
    expect(message).toContain("unknown flag: --no-such-flag");
  },
  START_TIMEOUT_MS,
);

test(
  "a port that was asked for and is taken is named as the cause",
  async () => {
    const server = createServer();
    try {
      const apiserverPort = await listen(server);
      const { code, message } = await failedStart({ name: "port-taken", apiserverPort });
      expect(code).toBe("EK_CLUSTER_PORT_TAKEN");
      expect(message).toContain("kube-apiserver ended with code 1 before it was ready: its port is taken");
      expect(message).toContain(`127.0.0.1:${apiserverPort}: bind: address already in use`);
      expect(message).toContain("kube-apiserver.log");
    } finally {
      server.close();
    }
  },
  START_TIMEOUT_MS,
);

test(
  "a component that is not ready in time is named with its log",
  async () => {
    const { code, message } = await failedStart({ name: "too-slow", deadlineMs: 1 });
    expect(code).toBe("EK_CLUSTER_DEADLINE");
    // Mostly etcd; where the machine was held up long enough, etcd is ready at the first look and the next one is late.
    expect(message).toMatch(/(etcd|kube-apiserver) is ready: not after 0\.001 s; last seen:[^]*\1\.log/);
  },
  START_TIMEOUT_MS,
);

test(
  "a folder of programs without kube-scheduler is refused with the path that is missing",
  async () => {
    const { bin, stages } = await buildBinaries({ folders: foldersFrom(process.env) });
    const folder = mkdtempSync(join(tmpdir(), "toolset-"));
    try {
      mkdirSync(join(folder, "bin"));
      symlinkSync(stages, join(folder, "kwok-stages.yaml"));
      for (const binary of CLUSTER_BINARIES) {
        if (binary !== "kube-scheduler") symlinkSync(join(bin, binary), join(folder, "bin", binary));
      }
      const { code, message } = await failedStart({ name: "incomplete", toolset: folder });
      expect(code).toBe("EK_CLUSTER_BINARY_MISSING");
      expect(message).toContain(join(folder, "bin", "kube-scheduler"));
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
  START_TIMEOUT_MS,
);

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("a TCP server has a port");
  return address.port;
}
