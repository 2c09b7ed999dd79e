import { cpSync, existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { newProject } from "./new-project.ts";
import { readProjects, workspaceRoot } from "./projects.ts";

const emptyRoot = () => mkdtempSync(join(tmpdir(), "workspace-"));

test("a new lib is a project of its layer", () => {
  const root = emptyRoot();
  newProject("lib", "tide-table", "pure", root);
  expect(readProjects(root)).toEqual([
    { name: "tide-table", folder: "libs/tide-table", layer: "pure", targets: ["typecheck", "lint", "test"] },
  ]);
});

/** A root with the files that name every service, as they are. */
function rootWithServices(): string {
  const root = emptyRoot();
  for (const file of named) cpSync(join(workspaceRoot, file), join(root, file), { recursive: true });
  return root;
}

const named = [
  "libs/api/src/kinds.ts",
  "libs/api/src/index.ts",
  "tools/cli/src/services/index.ts",
  "tools/cli/package.json",
  "charts/evenkeel/Chart.yaml",
  "charts/evenkeel/values.yaml",
  "charts/evenkeel/values.schema.json",
];

describe("a new app", () => {
  const root = rootWithServices();
  const files = newProject("app", "wind-vane", undefined, root);
  const text = (file: string) => readFileSync(join(root, file), "utf8");

  test("has the folders and targets of every service", () => {
    const named = (wanted: string, place: string) => readProjects(place).find(({ name }) => name === wanted);
    const weightRebalancer = named("weight-rebalancer", workspaceRoot);
    const windVane = named("wind-vane", root);
    expect(weightRebalancer).toBeDefined();
    expect(windVane).toEqual({ ...weightRebalancer, name: "wind-vane", folder: "apps/wind-vane" });
    const inSrc = ["main", "compose", "reconciler", "settings", "metrics", "observe/observer", "act/carry-out"];
    expect(files).toEqual(expect.arrayContaining(inSrc.map((file) => `apps/wind-vane/src/${file}.ts`)));
  });

  test("has its own name in each way of writing, and the template's nowhere", () => {
    expect(text("apps/wind-vane/src/main.ts")).toContain("composeWindVane(service");
    expect(text("apps/wind-vane/src/metrics.ts")).toContain('"wind_vane_level"');
    expect(text("libs/api/src/wind-vane.ts")).toContain('plural: "windvanes"');
    expect(text("libs/api/src/kinds.ts")).toContain("WIND_VANE");
    // A service of the template's name may be there.
    const times = (where: string) => where.match(/tide.?keeper/gi)?.length ?? 0;
    const before = (file: string) =>
      named.includes(file) ? times(readFileSync(join(workspaceRoot, file), "utf8")) : 0;
    expect(files.filter((file) => times(file + text(file)) > before(file))).toEqual([]);
  });

  test("is known wherever services are named, beside those that were", () => {
    expect(text("tools/cli/src/services/index.ts")).toMatch(/Rebalancer\w*,[^\]]*windVaneRegistration\s*\]/);
    for (const file of named) {
      expect(text(file)).toContain("wind-vane");
      expect(text(file)).toMatch(/weight-rebalancer|REBALANCE/);
    }
  });

  test("is not added where the list of services has another form", () => {
    const other = rootWithServices();
    writeFileSync(join(other, "tools/cli/src/services/index.ts"), "export {};\n");
    expect(() => newProject("app", "wind-vane", undefined, other)).toThrow("tools/cli/src/services/index.ts");
    expect(existsSync(join(other, "apps"))).toBe(false);
  });
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
