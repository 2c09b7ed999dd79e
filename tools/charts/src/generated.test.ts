import { cpSync, appendFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { driftedFiles, writeFiles } from "./generated.ts";
import { root } from "./places.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "charts-"));
  for (const part of ["charts", "infra", "docs/reference/values.md"])
    cpSync(join(root, part), join(folder, part), { recursive: true });
});
afterEach(() => rmSync(folder, { recursive: true }));

test("schemas, boards, alerts and the reference of values are what their sources say", async () => {
  expect(await driftedFiles(root)).toEqual([]);
});

test.each([
  ["infra/prometheus/weight-rebalancer.rules.yaml", "charts/weight-rebalancer/files/alerts.yaml"],
  ["infra/grafana/weight-rebalancer.json", "charts/weight-rebalancer/files/board.json"],
])("a change of %s is a drift of the chart's copy until it is written", async (source, copy) => {
  appendFileSync(join(folder, source), "\n");
  expect(await driftedFiles(folder)).toEqual([copy]);
  expect(await writeFiles(folder)).toEqual([copy]);
  expect(await driftedFiles(folder)).toEqual([]);
});

test("a page that was edited by hand has drifted", async () => {
  appendFileSync(join(folder, "docs/reference/values.md"), "by hand\n");
  expect(await driftedFiles(folder)).toEqual(["docs/reference/values.md"]);
});
