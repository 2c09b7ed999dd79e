import { appendFileSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { kinds } from "@evenkeel/api";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { driftedFiles, generatedFiles, writeFiles } from "./files.ts";

const REBALANCES = "weight-rebalancer/files/crds/rebalancer.ch1aki.github.io_rebalances.yaml";

test("the charts have the CRDs that the schemas give", () => {
  expect(driftedFiles(join(import.meta.dirname, "../../../charts"))).toEqual([]);
});

test("every kind has one CRD, in the folder of the service that reconciles it", () => {
  const services = [...generatedFiles().keys()].map((path) => path.split("/")[0]);
  expect(services.sort()).toEqual(kinds.map(({ service }) => service).sort());
});

describe("in an empty folder", () => {
  let charts: string;
  beforeEach(() => {
    charts = mkdtempSync(join(tmpdir(), "crds-"));
  });
  afterEach(() => {
    rmSync(charts, { recursive: true });
  });
  const present = () => globSync("**/*.yaml", { cwd: charts }).sort();

  test("every file is missing at first and none after writing", () => {
    const all = [...generatedFiles().keys()].sort();
    expect(driftedFiles(charts)).toEqual(all);
    writeFiles(charts);
    expect(driftedFiles(charts)).toEqual([]);
    expect(present()).toEqual(all);
  });

  test("an edited file has drifted, and only that one is written", () => {
    writeFiles(charts);
    appendFileSync(join(charts, REBALANCES), "# by hand\n");
    expect(driftedFiles(charts)).toEqual([REBALANCES]);
    expect(writeFiles(charts)).toEqual([REBALANCES]);
    expect(driftedFiles(charts)).toEqual([]);
  });

  test("the file of a kind that no longer exists is removed; a file that was never generated stays", () => {
    writeFiles(charts);
    const stale = REBALANCES.replace("rebalances", "removed");
    const foreign = REBALANCES.replace("rebalances", "foreign");
    writeFileSync(join(charts, stale), readFileSync(join(charts, REBALANCES)));
    writeFileSync(join(charts, foreign), "kind: ConfigMap\n");
    expect(driftedFiles(charts)).toEqual([stale]);
    writeFiles(charts);
    expect(present()).toEqual([...generatedFiles().keys(), foreign].sort());
  });
});
