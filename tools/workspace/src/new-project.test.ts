import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { newProject } from "./new-project.ts";
import { readProjects } from "./projects.ts";

const emptyRoot = () => mkdtempSync(join(tmpdir(), "workspace-"));

test("a new lib is a project of its layer", () => {
  const root = emptyRoot();
  newProject("lib", "tide-table", "pure", root);
  expect(readProjects(root)).toEqual([
    { name: "tide-table", folder: "libs/tide-table", layer: "pure", targets: ["typecheck", "lint", "test"] },
  ]);
});

test("a new app has the folders of every service", () => {
  const root = emptyRoot();
  const files = newProject("app", "tide-keeper", undefined, root);
  expect(files).toEqual(
    expect.arrayContaining(
      ["main", "settings", "metrics", "observe/observe", "decide/decide"].map(
        (file) => `apps/tide-keeper/src/${file}.ts`,
      ),
    ),
  );
  expect(readFileSync(join(root, "apps/tide-keeper/src/main.ts"), "utf8")).toContain("main(tideKeeper, process");
});

test.each([
  ["a layer that the kind does not have", "lib", "x", "app"],
  ["a kind that does not exist", "service", "x", undefined],
  ["a name that is not in kebab-case", "lib", "../x", "pure"],
])("refuses %s", (_case, kind, name, layer) => {
  expect(() => newProject(kind, name, layer, emptyRoot())).toThrow();
});

test("refuses to write over a project that is there", () => {
  const root = emptyRoot();
  newProject("lib", "x", "pure", root);
  expect(() => newProject("lib", "x", "pure", root)).toThrow("libs/x is there already");
});
