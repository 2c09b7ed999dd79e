import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { afterEach, expect, jest, test } from "@jest/globals";
import { endProcesses, signalProcess } from "../src/process-end.ts";
import { identify, isAlive, type ProcessIdentity } from "../src/process-identity.ts";

jest.setTimeout(60_000);

const children: ChildProcess[] = [];

afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

/** Runs a shell script and resolves when it has said that it is ready. */
async function run(script: string): Promise<{ child: ChildProcess; identity: ProcessIdentity }> {
  const child = spawn("sh", ["-c", script], { stdio: ["pipe", "pipe", "inherit"] });
  children.push(child);
  await once(child.stdout, "data");
  const identity = identify(child.pid ?? 0);
  if (identity === undefined) throw new Error("the shell has ended already");
  return { child, identity };
}

const UNTIL_KILLED = "echo ready; read line";

test("a process that heeds SIGTERM is gone afterwards", async () => {
  const { child, identity } = await run(UNTIL_KILLED);
  const exit = once(child, "exit");
  await endProcesses([identity]);
  expect(isAlive(identity)).toBe(false);
  expect(await exit).toEqual([null, "SIGTERM"]);
});

test("a process that ignores SIGTERM is killed after the grace", async () => {
  const { child, identity } = await run(`trap "" TERM; ${UNTIL_KILLED}`);
  const exit = once(child, "exit");
  await endProcesses([identity], 50);
  expect(await exit).toEqual([null, "SIGKILL"]);
});

test("a paused process still gets the chance to end by itself", async () => {
  const { child, identity } = await run(`trap "exit 7" TERM; echo ready; while :; do read line; done`);
  signalProcess(identity, "SIGSTOP");
  const exit = once(child, "exit");
  await endProcesses([identity]);
  expect(await exit).toEqual([7, null]);
});

test("a process that has got the pid of another is left alone", async () => {
  const { identity } = await run(UNTIL_KILLED);
  await endProcesses([{ ...identity, startTicks: identity.startTicks - 1 }]);
  expect(isAlive(identity)).toBe(true);
});
