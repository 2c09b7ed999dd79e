import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { answerFigures } from "../collectors/answers.ts";
import { balanceFigures } from "../collectors/balance.ts";
import { scaleFigures } from "../collectors/scale.ts";
import type { Suite } from "../suite.ts";

const root = join(import.meta.dirname, "../../../..");

export const collectors: Suite = {
  name: "collectors",
  about:
    "balance and movement of scrape targets, compared with the target allocator's strategies, discovery at scale, and the target API",
  async run(progress) {
    const bundled = spawnSync("nx", ["run", "collector-scheduler:bundle"], { cwd: root, encoding: "utf8" });
    if (bundled.status !== 0) throw new Error(`The bundle was not made:\n${bundled.stdout}${bundled.stderr}`);
    const { results, series } = balanceFigures(progress);
    const scale = await scaleFigures(progress);
    const answers = await answerFigures(progress);
    const title = "Largest load over the mean after one more collector, 10,000 targets";
    return { results: [...results, ...scale, ...answers], plot: { title, unit: "", series } };
  },
};
