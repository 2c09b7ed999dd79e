import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { answerFigures } from "../collectors/answers.ts";
import { balanceFigures, rivals } from "../collectors/balance.ts";
import { joinFigures } from "../collectors/joins.ts";
import { scaleFigures } from "../collectors/scale.ts";
import type { Result } from "../result.ts";
import type { Suite } from "../suite.ts";

const root = join(import.meta.dirname, "../../../..");

/** What PART selects; all parts unless it is set. */
const PARTS: Readonly<Record<string, (progress: (line: string) => void) => Promise<readonly Result[]>>> = {
  balance: (progress) => Promise.resolve(balanceFigures(progress)),
  scale: scaleFigures,
  joins: joinFigures,
  answers: answerFigures,
};

export const collectors: Suite = {
  name: "collectors",
  about:
    "balance and movement of scrape targets, compared with the target allocator's strategies, discovery at scale, and the target API; PART=balance|scale|joins|answers measures one and keeps the last figures of the others",
  async run(progress) {
    const selected = process.env["PART"];
    if (selected !== undefined && PARTS[selected] === undefined)
      throw new Error(`PART is one of ${Object.keys(PARTS).join(", ")}`);
    const bundled = spawnSync("nx", ["run", "collector-scheduler:bundle"], { cwd: root, encoding: "utf8" });
    if (bundled.status !== 0) throw new Error(`The bundle was not made:\n${bundled.stdout}${bundled.stderr}`);
    const compared = rivals();
    progress("ports of the target allocator's strategies");
    const results: Result[] = [];
    const began = performance.now();
    for (const [name, measure] of Object.entries(PARTS)) {
      if (selected !== undefined && selected !== name) continue;
      const say = (line: string) => progress(`${Math.round((performance.now() - began) / 1000)} s, ${name}: ${line}`);
      results.push(...(await measure(say)));
    }
    const title = "Largest load over the mean after one more collector, 10,000 targets";
    const plot = { title, unit: "", series: compared.series };
    return { results: withLast([...results, ...compared.results]), plot };
  },
};

/** The results, and those of the last run that were not measured again. */
function withLast(results: readonly Result[]): readonly Result[] {
  const file = join(root, "docs/benchmarks/collectors.json");
  if (process.env["PART"] === undefined || !existsSync(file)) return results;
  const measured = new Map(results.map((result) => [result.measure, result]));
  const last = JSON.parse(readFileSync(file, "utf8")) as readonly Result[];
  const kept = last.map((result) => measured.get(result.measure) ?? result);
  const known = new Set(last.map(({ measure }) => measure));
  return [...kept, ...results.filter(({ measure }) => !known.has(measure))];
}
