import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { foldersFrom, runsFolder } from "../src/folders.ts";
import { cgroupFolders, cgroupProcesses } from "../src/node/cgroups.ts";
import { readKernelSettings } from "../src/node/kernel-settings.ts";
import { mountPointsBelow } from "../src/node/mounts.ts";
import { placesOf, RUNTIME_FOLDERS } from "../src/node/places.ts";
import { CONTAINER_LOGS, NETWORK_RESULTS } from "../src/node/remove-node.ts";
import { whyNoRealNode } from "../src/node/requirements.ts";
import { killProcesses } from "../src/process-end.ts";
import { isAlive, type ProcessIdentity } from "../src/process-identity.ts";
import { RunFolder } from "../src/run-folder.ts";
import { findMarked } from "../src/run-mark.ts";
import { waitUntil } from "../src/wait.ts";

const LIMIT_MS = 120_000;
const main = join(import.meta.dirname, "../src/main.ts");
const why = whyNoRealNode(foldersFrom(process.env));

if (why !== undefined) test.skip(`a real node leaves nothing: ${why}`, () => undefined);
else describe("a real node leaves nothing", endings);

function endings(): void {
  let state: string;
  let runs: string;
  let env: NodeJS.ProcessEnv;
  let settings: ReturnType<typeof readKernelSettings>;

  // Programs come from the cache; what runs is of this test alone.
  beforeEach(() => {
    state = mkdtempSync(join(tmpdir(), "real-node-"));
    env = { ...process.env, XDG_STATE_HOME: state };
    runs = runsFolder(foldersFrom(env));
    settings = readKernelSettings();
  });

  afterEach(async () => {
    await run("stop", "--all");
    rmSync(state, { recursive: true, force: true });
  }, LIMIT_MS);

  const begin = (...args: string[]): ChildProcess =>
    spawn(process.execPath, [main, ...args], { env, stdio: ["ignore", "ignore", "pipe"] });

  async function run(...args: string[]): Promise<{ code: number | null; said: string }> {
    const child = begin(...args);
    let said = "";
    child.stderr?.setEncoding("utf8").on("data", (text: string) => (said += text));
    const [code] = (await once(child, "close")) as [number | null];
    return { code, said };
  }

  /** The id of the only run. */
  const runId = (): string => (existsSync(runs) ? readdirSync(runs) : []).find((id) => /^evenkeel-/.test(id)) ?? "";

  /** The command lines in the cgroups of a run. */
  const commands = (id: string): string[] =>
    cgroupProcesses(placesOf(id).cgroup).map((pid) =>
      readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " "),
    );

  /**
   * Starts a cluster until CoreDNS runs in a container, and gives the starter, which still waits for it to be ready.
   */
  async function startUntilContainer(): Promise<ChildProcess> {
    const starter = begin("start", "--node", "real");
    const whyNot = (): string | undefined => {
      if (runId() === "") return "there is no run yet";
      const running = commands(runId());
      return running.some((command) => command.startsWith("/coredns ")) ? undefined : `there run ${running.join(", ")}`;
    };
    await waitUntil("CoreDNS runs", whyNot, { everyMs: 10 });
    expect(starter.exitCode).toBeNull();
    return starter;
  }

  /** Everything that a run has on the machine, and the files that stay. */
  function traces(id: string): object {
    const places = placesOf(id);
    return {
      processes: findMarked(id).filter(isAlive),
      mounts: mountPointsBelow([state, places.runtime]),
      cgroups: cgroupFolders(places.cgroup),
      links: readFileSync("/proc/net/dev", "utf8").match(new RegExp(places.hostLink, "g")) ?? [],
      runtime: existsSync(places.runtime),
      containerLogs: namesIn(CONTAINER_LOGS)
        .map((name) => readlinkSync(join(CONTAINER_LOGS, name)))
        .filter((file) => file.includes(id)),
      networkResults: namesIn(NETWORK_RESULTS).filter((name) => name.startsWith(places.podNetwork)),
      files: readdirSync(join(runs, id)).sort(),
    };
  }

  const namesIn = (folder: string): string[] => (existsSync(folder) ? readdirSync(folder) : []);

  const nothing = {
    ...{ processes: [], mounts: [], cgroups: [], links: [], runtime: false, files: ["logs", "run.json"] },
    ...{ containerLogs: [], networkResults: [] },
  };

  function expectNothingLeft(): void {
    expect(traces(runId())).toEqual(nothing);
    // While another node runs on this machine, they stay changed.
    if (!existsSync(RUNTIME_FOLDERS)) expect(readKernelSettings()).toEqual(settings);
  }

  test(
    "after a start, a second start and a stop",
    async () => {
      expect((await run("start", "--node", "real")).code).toBe(0);
      const running = traces(runId());
      for (const [kind, none] of Object.entries(nothing)) expect(running).not.toMatchObject({ [kind]: none });
      expect(readKernelSettings()).toMatchObject({ "kernel/panic": "10", "vm/overcommit_memory": "1" });
      const second = await run("start", "--node", "real");
      expect(second).toEqual({ code: 0, said: expect.stringContaining("already running") });
      expect((await run("start")).code).toBe(1);
      expect(readdirSync(runs)).toHaveLength(1);
      expect((await run("stop")).code).toBe(0);
      expectNothingLeft();
    },
    LIMIT_MS,
  );

  test(
    "after Ctrl-C",
    async () => {
      const starter = await startUntilContainer();
      const exit = once(starter, "exit");
      starter.kill("SIGINT");
      expect(await exit).toEqual([null, "SIGINT"]);
      expectNothingLeft();
    },
    LIMIT_MS,
  );

  test(
    "after SIGKILL of the starter, and then of every program that it had started, and a stop",
    async () => {
      const starter = await startUntilContainer();
      const exit = once(starter, "exit");
      starter.kill("SIGKILL");
      await exit;
      const programs: readonly ProcessIdentity[] = new RunFolder(join(runs, runId())).read().processes;
      killProcesses(programs);
      await waitUntil("the programs end", () => (programs.some(isAlive) ? "one runs" : undefined));
      expect(commands(runId())).toContainEqual(expect.stringMatching(/^\/coredns /));
      const { code, said } = await run("stop", "--all");
      expect({ code, said }).toEqual({ code: 0, said: expect.stringContaining(`cleaned up ${runId()}`) });
      expectNothingLeft();
    },
    LIMIT_MS,
  );
}
