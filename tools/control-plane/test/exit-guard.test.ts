import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect, jest, test } from "@jest/globals";
import { identify, isAlive, type ProcessIdentity } from "../src/process-identity.ts";
import { waitUntil } from "../src/wait.ts";

jest.setTimeout(60_000);

const guardFile = join(import.meta.dirname, "../src/exit-guard.ts");
const endFile = join(import.meta.dirname, "../src/process-end.ts");
const identityFile = join(import.meta.dirname, "../src/process-identity.ts");

/** Runs a program that guards two processes, each by a guard of its own, and has the statements `more`. */
async function runGuarded(more: string): Promise<{ program: ChildProcess; guarded: ProcessIdentity[] }> {
  const source = `
    import { spawn } from "node:child_process";
    import { endWithThisProcess } from ${JSON.stringify(guardFile)};
    import { killProcesses } from ${JSON.stringify(endFile)};
    import { identify } from ${JSON.stringify(identityFile)};
    const guarded = [0, 1].map(() => identify(spawn("sleep", ["600"], { stdio: "ignore", detached: true }).pid));
    for (const process of guarded) endWithThisProcess(() => killProcesses([process]));
    setInterval(() => {}, 1000);
    ${more}
    process.stdout.write(guarded.map(({ pid }) => pid).join(" "));
  `;
  const program = spawn(process.execPath, ["--input-type=module", "-e", source], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [output] = (await once(program.stdout, "data")) as [Buffer];
  const guarded = output
    .toString()
    .split(" ")
    .map(Number)
    .flatMap((pid) => identify(pid) ?? []);
  return { program, guarded };
}

async function expectGone(guarded: readonly ProcessIdentity[]): Promise<void> {
  await waitUntil("the guarded end", () => (guarded.some(isAlive) ? "alive" : undefined), { deadlineMs: 10_000 });
}

test.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)(
  "%s ends the guarded, and the program as it always did",
  async (signal) => {
    const { program, guarded } = await runGuarded("");
    expect(guarded.map(isAlive)).toEqual([true, true]);
    const exit = once(program, "exit");
    program.kill(signal);
    expect(await exit).toEqual([null, signal]);
    await expectGone(guarded);
  },
);

test.each([
  ["an exit", "process.exit(3)", 3],
  ["an uncaught error", "process.exitCode = 1; throw 'uncaught'", 1],
])("%s ends the guarded", async (_, statement, code) => {
  const { program, guarded } = await runGuarded(`process.once("SIGUSR2", () => { ${statement} });`);
  const exit = once(program, "exit");
  program.kill("SIGUSR2");
  expect(await exit).toEqual([code, null]);
  await expectGone(guarded);
});

test("a program that handles a signal itself goes on, and its exit ends the guarded", async () => {
  const { program, guarded } = await runGuarded(`
    process.on("SIGINT", () => process.stdout.write("handled"));
    process.once("SIGUSR2", () => process.exit(4));
  `);
  const handled = once(program.stdout ?? program, "data");
  program.kill("SIGINT");
  await handled;
  expect(guarded.map(isAlive)).toEqual([true, true]);
  const exit = once(program, "exit");
  program.kill("SIGUSR2");
  expect(await exit).toEqual([4, null]);
  await expectGone(guarded);
});
