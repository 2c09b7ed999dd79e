import { spawnSync } from "node:child_process";
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "@jest/globals";

test("the bundle runs in a folder with nothing beside it", () => {
  const folder = mkdtempSync(join(tmpdir(), "bundle-"));
  copyFileSync(join(import.meta.dirname, "../dist/main.mjs"), join(folder, "main.mjs"));
  const run = (...args: string[]) =>
    spawnSync(process.execPath, ["main.mjs", ...args], { cwd: folder, encoding: "utf8", timeout: 20_000 });
  expect(run("--version")).toMatchObject({ status: 0, stdout: "ballast 0.1.0\n", stderr: "" });
  const started = spawnSync(
    "bash",
    [
      "-c",
      `"$0" main.mjs --level-file=level --listen-host=127.0.0.1 --admin-port=0 --health-port=0 --port=0 --shutdown-delay=0 > log & until grep -q '"phase":"ready"' log; do kill -0 $! || exit 9; done; kill -TERM $!; wait $!`,
      process.execPath,
    ],
    { cwd: folder, encoding: "utf8", timeout: 20_000 },
  );
  rmSync(folder, { recursive: true });
  expect(started).toMatchObject({ status: 0, stderr: "" });
});
