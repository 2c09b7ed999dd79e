import { faultOf, type RelabelAnswer, type RelabelCase, relabelCases } from "@evenkeel/relabel/testing";
import { askOracle, type OracleAnswer, type OracleQuestion, scrapeConfigOf } from "./relabel-oracle.ts";

/** The cases whose answers are committed in libs/relabel: `make test` compares with them where there is no Go. */
const SEED = 1;
const COUNT = 10_000;

/** What Prometheus's library answers to the committed cases, one line of JSON a case. */
export async function relabelAnswers(): Promise<string> {
  const answers = await askOracle(relabelCases(SEED, COUNT).map((each) => questionOf(each)));
  return answers.map((answer) => `${JSON.stringify(relabelAnswer(answer))}\n`).join("");
}

/** A case as the oracle takes it. */
export function questionOf({ job, group, target }: RelabelCase): OracleQuestion {
  return { job: scrapeConfigOf(job), group: Object.fromEntries(group), target: Object.fromEntries(target) };
}

/** An answer of the oracle in the words of libs/relabel. */
export function relabelAnswer({ labels, fault, refused }: OracleAnswer): RelabelAnswer {
  if (refused !== undefined) return { refused: true };
  if (fault !== undefined) return { fault: faultOf(fault) };
  return labels === undefined ? { dropped: true } : { labels };
}
