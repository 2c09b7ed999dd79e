import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { expect, test } from "@jest/globals";
import { hasCommand } from "./real-parts.ts";

test("a program is found in any folder of the path", () => {
  const path = ["/nonexistent", dirname(process.execPath)].join(delimiter);
  expect(hasCommand("node", path)).toBe(true);
  expect(hasCommand("no-such-program", path)).toBe(false);
});

test("a file that may not be run is no program", () => {
  const folder = mkdtempSync(join(tmpdir(), "parts-"));
  writeFileSync(join(folder, "note"), "", { mode: 0o644 });
  writeFileSync(join(folder, "tool"), "", { mode: 0o755 });
  expect([hasCommand("note", folder), hasCommand("tool", folder)]).toEqual([false, true]);
  rmSync(folder, { recursive: true });
});
