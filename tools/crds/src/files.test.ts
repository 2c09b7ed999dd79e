import { appendFileSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { driftedFiles, generatedFiles, writeFiles } from "./files.ts";

const REBALANCES = "rebalancer.ch1aki.github.io_rebalances.yaml";

test("charts/crds is what the schemas say", () => {
  expect(driftedFiles(fileURLToPath(new URL("../../../charts/crds/", import.meta.url)))).toEqual([]);
});

describe("in a folder", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "crds-"));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });

  test("every file is missing at first and none after writing", () => {
    expect(driftedFiles(folder)).toEqual([...generatedFiles().keys()].sort());
    writeFiles(folder);
    expect(driftedFiles(folder)).toEqual([]);
    expect(readdirSync(folder)).toHaveLength(7);
  });

  test("an edited file has drifted, and only that one is written", () => {
    writeFiles(folder);
    appendFileSync(join(folder, REBALANCES), "# by hand\n");
    expect(driftedFiles(folder)).toEqual([REBALANCES]);
    expect(writeFiles(folder)).toEqual([REBALANCES]);
    expect(driftedFiles(folder)).toEqual([]);
  });

  test("a file of a kind that is no more is removed, one that was never generated is left", () => {
    writeFiles(folder);
    const [first = ""] = generatedFiles().values();
    writeFileSync(join(folder, "gone.yaml"), first);
    writeFileSync(join(folder, "mine.yaml"), "kind: ConfigMap\n");
    expect(driftedFiles(folder)).toEqual(["gone.yaml"]);
    writeFiles(folder);
    expect(readdirSync(folder)).toEqual([...generatedFiles().keys(), "mine.yaml"].sort());
  });
});
