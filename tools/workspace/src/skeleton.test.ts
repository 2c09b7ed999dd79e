import { cpSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, test } from "@jest/globals";
import { newProject } from "./new-project.ts";
import { workspaceRoot } from "./projects.ts";
import { skeletonFaults } from "./skeleton.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "skeleton-"));
  cpSync(join(workspaceRoot, "nx.json"), join(root, "nx.json"));
  newProject("lib", "tide-table", "pure", root);
});

/** Edits the new project's file. */
function change(file: string, from: string, to: string): void {
  const path = join(root, "libs/tide-table", file);
  const text = readFileSync(path, "utf8");
  expect(text).toContain(from);
  writeFileSync(path, text.replace(from, to));
}

test("a new project has it", () => {
  expect(skeletonFaults(root)).toEqual([]);
});

test.each([
  ["a tag beside its layer", "project.json", '"layer:pure"', '"layer:pure", "starts:real-parts"'],
  ["inputs of its own", "project.json", '"test": {}', '"test": { "inputs": ["default"] }'],
  ["a target of its own", "project.json", '"test": {}', '"test": {}, "draw": { "command": "draw" }'],
  [
    "a second typecheck",
    "project.json",
    '"typecheck": {}',
    '"typecheck": { "command": "tsc --noEmit -p {projectRoot} && x" }',
  ],
  ["further folders of sources", "tsconfig.json", '"src",', '"stories", "src",'],
])("it may have %s", (_what, file, from, to) => {
  change(file, from, to);
  expect(skeletonFaults(root)).toEqual([]);
});

test.each([
  ["another command for a common target", "project.json", '"lint": {}', '"lint": { "command": "true" }'],
  ["other sources", "project.json", "libs/tide-table/src", "libs/tide-table/lib"],
  ["another base", "tsconfig.json", "tsconfig.base.json", "tsconfig.json"],
  ["fewer sources", "tsconfig.json", '"test", ', ""],
])("it may not have %s", (_what, file, from, to) => {
  change(file, from, to);
  expect(skeletonFaults(root)).toEqual([`libs/tide-table/${file} is not as the skeleton has it`]);
});

test("a package of another name is a fault", () => {
  change("package.json", "@evenkeel/tide-table", "@evenkeel/tides");
  expect(skeletonFaults(root)).toEqual(["libs/tide-table/package.json is not @evenkeel/tide-table, a module"]);
});
