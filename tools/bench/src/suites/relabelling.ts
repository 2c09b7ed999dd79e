import { type Contender, ours, prometheus, type Round } from "../relabelling/contender.ts";
import { world } from "../relabelling/world.ts";
import { barred, figure, median, type Result } from "../result.ts";
import type { Series, Suite } from "../suite.ts";

const ROUNDS = 7;

export const relabelling: Suite = {
  name: "relabelling",
  about: "CPU time to relabel 100,000 targets of 42 labels, against the same loop on Prometheus's library",
  async run(progress) {
    await using peer = await prometheus(progress);
    await using own = await ours();
    const results: Result[] = [];
    const series: Series[] = [];
    for (const job of Object.keys(world.jobs)) {
      const rounds = await alternate(own, peer, job);
      const [mine, theirs] = [rounds.map(({ mine }) => mine.seconds), rounds.map(({ theirs }) => theirs.seconds)];
      for (const { mine, theirs } of rounds) {
        if (mine.kept !== theirs.kept) throw new Error(`${job}: we kept ${mine.kept}, Prometheus ${theirs.kept}`);
      }
      results.push(
        figure(`${job}: targets kept`, rounds[0]?.mine.kept ?? NaN, ""),
        figure(`${job}: ours`, median(mine) * 1000, "ms CPU"),
        figure(`${job}: Prometheus's library, GOMAXPROCS=2`, median(theirs) * 1000, "ms CPU"),
        barred(`${job}: ours to Prometheus's`, median(mine) / median(theirs), "", "<= 1.5"),
      );
      series.push(
        { name: `${job}, ours`, values: mine, middle: median(mine) },
        { name: `${job}, Prometheus`, values: theirs, middle: median(theirs) },
      );
      progress(job);
    }
    return { results, plot: { title: "CPU time to relabel 100,000 targets", unit: "s", series } };
  },
};

/** Rounds in alternating order, after one of each that is not counted: V8 compiles what it has seen. */
async function alternate(own: Contender, peer: Contender, job: string): Promise<{ mine: Round; theirs: Round }[]> {
  const rounds = [];
  for (let round = 0; round <= ROUNDS; round++)
    rounds.push({ mine: await own.pass(job), theirs: await peer.pass(job) });
  return rounds.slice(1);
}
