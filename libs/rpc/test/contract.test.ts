import { appendFileSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "@jest/globals";
import { Contract } from "../src/generate/contract.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const decisions = "proto/evenkeel/decisions/v1/decisions.proto";

/** A copy of the package's protos and generated files to change, until the test's end. */
function copy() {
  const folder = mkdtempSync(join(tmpdir(), "evenkeel-contract-"));
  for (const name of ["buf.yaml", "buf.gen.yaml", "contract.txtpb", "proto", "src/generated"]) {
    cpSync(join(root, name), join(folder, name), { recursive: true });
  }
  const edit = (file: string, from: string, to: string) => {
    const text = readFileSync(join(folder, file), "utf8");
    expect(text).toContain(from);
    writeFileSync(join(folder, file), text.replace(from, to));
  };
  return { folder, edit, contract: new Contract(folder), [Symbol.dispose]: () => rmSync(folder, { recursive: true }) };
}

test("the committed files are what the protos give, and the protos keep the contract", () => {
  const contract = new Contract(root);
  expect(contract.faults()).toEqual([]);
  expect(contract.drifted()).toEqual([]);
});

test("a change that was not generated, a changed file and one left over are named", () => {
  using sample = copy();
  sample.edit(decisions, "bool dry_run = 9;", "bool dry_run = 9;\n  string who = 10;");
  appendFileSync(join(sample.folder, "src/generated/externalscaler/externalscaler.ts"), "// by hand\n");
  writeFileSync(join(sample.folder, "src/generated/old.ts"), "");
  expect(sample.contract.drifted()).toEqual([
    "src/generated/descriptors.ts",
    "src/generated/evenkeel/decisions/v1/decisions.ts",
    "src/generated/externalscaler/externalscaler.ts",
    "src/generated/old.ts",
  ]);
  expect(sample.contract.faults()).toEqual([]);
  sample.contract.write();
  expect(sample.contract.drifted()).toEqual([]);
});

test.each([
  ["another type", decisions, "string message = 8;", "int32 message = 8;"],
  ["another number", decisions, "bool dry_run = 9;", "bool dry_run = 10;"],
  ["another name, which the JSON API shows", decisions, "bool dry_run = 9;", "bool rehearsal = 9;"],
  ["a method less", "proto/evenkeel/drain/v1/drain.proto", "rpc Release(", "rpc Free("],
  [
    "another number in KEDA's own proto",
    "proto/externalscaler/externalscaler.proto",
    "bool result = 1;",
    "bool result = 2;",
  ],
])("%s breaks the contract", (_name, file, from, to) => {
  using sample = copy();
  sample.edit(file, from, to);
  expect(sample.contract.faults().join("\n")).toContain(file);
});

test("style is checked", () => {
  using sample = copy();
  sample.edit(decisions, "message SnapshotResponse {", "message SnapshotResponse {\n  string badName = 9;");
  expect(sample.contract.faults().join("\n")).toContain("badName");
});
