import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { expect, test } from "@jest/globals";
import { ourAnswer } from "./testing/relabel-answers.ts";
import { relabelCases } from "./testing/relabel-cases.ts";

/** One line a case, made by Prometheus's own library from the same seed: testing/README.md says how. */
const file = join(import.meta.dirname, "testing/relabel-answers.jsonl.gz");

test("gives Prometheus's answer to 10,000 generated cases", () => {
  const answers = gunzipSync(readFileSync(file)).toString().trimEnd().split("\n");
  const cases = relabelCases(1, answers.length);
  expect(answers).toHaveLength(10_000);
  const kinds = new Set<string>();
  for (const [index, line] of answers.entries()) {
    const answer: unknown = JSON.parse(line);
    const given = cases[index];
    if (given === undefined) throw new Error("unreachable: as many cases as answers");
    // toEqual is slow, so that only a case that differs gets there.
    const ours = ourAnswer(given);
    if (JSON.stringify(ours) !== line)
      expect({ index, rules: given.job.rules, ours }).toEqual({ index, rules: given.job.rules, ours: answer });
    kinds.add("fault" in ours ? ours.fault : (Object.keys(ours)[0] ?? ""));
  }
  expect([...kinds].sort()).toEqual([
    "BadAddress",
    "BadHistogramFlag",
    "BadInterval",
    "BadTimeout",
    "NoAddress",
    "TimeoutAboveInterval",
    "dropped",
    "labels",
    "refused",
  ]);
});
