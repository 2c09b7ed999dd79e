import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "@jest/globals";
import { START_TIMEOUT_MS } from "../src/index.ts";

const run = promisify(execFile);
const main = join(import.meta.dirname, "../../control-plane/src/main.ts");

test(
  "a cluster that a person starts outlives the command, is found by name, and ends when it is stopped",
  async () => {
    const name = `person-${process.pid}`;
    const verb = (...args: string[]): Promise<{ stdout: string; stderr: string }> =>
      run(process.execPath, [main, ...args]);
    try {
      const started = await verb("start", `--name=${name}`, "--nodes=2");
      const shell = `${started.stdout}\nkubectl get nodes --no-headers`;
      const nodes = (await run("sh", ["-c", shell])).stdout.trim().split("\n");
      expect(nodes.map((line) => line.split(/\s+/).slice(0, 2))).toEqual([
        ["node-0", "Ready"],
        ["node-1", "Ready"],
      ]);

      const again = await verb("start", `--name=${name}`);
      expect(again.stderr).toContain(`cluster ${name} is already running`);
      expect(again.stdout).toBe(started.stdout);

      const status = (await verb("status")).stdout;
      expect(status).toContain(`: running, kept, 2 nodes`);
      expect(status).toContain(started.stdout.split("\n")[0]);
    } finally {
      const { stderr } = await verb("stop", name);
      expect(stderr).toContain("5 processes ended");
    }
    expect((await verb("stop", name)).stderr).toContain(`no cluster ${name} is running`);
  },
  START_TIMEOUT_MS,
);
