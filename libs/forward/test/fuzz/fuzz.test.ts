import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { hasCommand } from "@evenkeel/runtime/testing";
import { campaign, type Findings } from "./campaign.ts";
import { ForwarderProcess } from "./forwarder-process.ts";
import { startGoUpstream } from "./go-upstream.ts";
import { type NodeUpstream, startNodeUpstream } from "./node-upstream.ts";
import type { Upstream } from "./seen.ts";

const soak = process.env["SOAK"] === "1";
const COUNT = soak ? 100_000 : 5_000;
const seed = Number(process.env["FUZZ_SEED"] ?? (soak ? Date.now() % 2 ** 31 : 9));

const suite = hasCommand("go") ? describe : describe.skip;

suite(`random and mutated requests (needs go), FUZZ_SEED=${seed}`, () => {
  let node: NodeUpstream;
  let go: Upstream;
  let forwarder: ForwarderProcess;
  let findings: Findings;

  beforeAll(async () => {
    node = await startNodeUpstream();
    go = await startGoUpstream();
    forwarder = await ForwarderProcess.start(node.port, go.port);
    findings = await campaign(seed, COUNT, { forwarder, node, go });
  }, 3_600_000);

  afterAll(() => {
    forwarder.stop();
    node.stop();
    go.stop();
  });

  test("never make the forwarder crash", () => {
    expect(forwarder.alive).toBe(true);
    expect(findings.inputs).toBe(COUNT);
  });

  test("never reach an upstream as something that the forwarder did not mean, nor get lost where they are well-formed", () => {
    expect(findings.faults.slice(0, 10)).toEqual([]);
  });

  test("never reach an upstream as bytes that its parser cannot read", () => {
    expect(node.unreadable).toEqual([]);
  });

  test("are refused or forwarded often enough for this to mean something", () => {
    expect(findings.forwarded).toBeGreaterThan(COUNT / 2);
    expect(findings.compared).toBeGreaterThan(COUNT / 4);
    expect(findings.refused).toBeGreaterThan(COUNT / 4);
  });
});
