import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { relabelling } from "@evenkeel/relabel";
import { ourAnswer, relabelCases } from "@evenkeel/relabel/testing";
import { expect, jest, test } from "@jest/globals";
import { questionOf, relabelAnswer, relabelAnswers } from "../src/relabel-answers.ts";
import { askOracle } from "../src/index.ts";

const COMMITTED = join(import.meta.dirname, "../../../libs/relabel/src/testing/relabel-answers.jsonl.gz");

/** `make soak SUITE=telemetry` compares more. */
const CASES = process.env["SOAK"] === undefined ? 5_000 : 200_000;

jest.setTimeout(CASES > 5_000 ? 3_000_000 : 300_000);

test("the answers that libs/relabel is tested with are those that Prometheus gives now", async () => {
  const committed = gunzipSync(readFileSync(COMMITTED)).toString().split("\n");
  const answers = (await relabelAnswers()).split("\n");
  expect(answers).toHaveLength(committed.length);
  const changed = answers.flatMap((now, index) => (now === committed[index] ? [] : [{ index, now }]));
  expect(changed).toEqual([]);
});

test(`${CASES} other cases get Prometheus's answer and steps from us`, async () => {
  for (let seed = 2, left = CASES; left > 0; seed++, left -= 5_000) {
    const cases = relabelCases(seed, 5_000);
    const answers = await askOracle(cases.map((each) => ({ ...questionOf(each), steps: true })));
    for (const [index, answer] of answers.entries()) {
      const given = cases[index];
      if (given === undefined) throw new Error("unreachable: as many answers as cases");
      const ours = { answer: ourAnswer(given), steps: ourSteps(given) };
      const theirs = { answer: relabelAnswer(answer), steps: answer.steps ?? [] };
      // toEqual is slow, so that only a case that differs gets there.
      if (sorted(ours) !== sorted(theirs)) expect({ seed, index, ...ours }).toEqual({ seed, index, ...theirs });
    }
  }
});

function ourSteps({ job, group, target }: ReturnType<typeof relabelCases>[number]): readonly unknown[] {
  const compilation = relabelling(job);
  if (!compilation.ok) return [];
  const steps = compilation.relabelling.steps(group, target);
  return steps.map(({ labels }) => (labels === undefined ? null : Object.fromEntries(labels)));
}

/** JSON with the fields of each object in order. */
function sorted(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === "object" && part !== null && !Array.isArray(part) ? Object.entries(part).sort() : part,
  );
}
