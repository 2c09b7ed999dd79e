import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { chart } from "./plot.ts";
import { resultTable } from "./result.ts";
import type { Suite } from "./suite.ts";
import { collectors } from "./suites/collectors.ts";
import { endpointProxy } from "./suites/endpoint-proxy.ts";
import { evictions } from "./suites/evictions.ts";
import { forward } from "./suites/forward.ts";
import { kube } from "./suites/kube.ts";
import { rebalancesSuite } from "./suites/rebalances.ts";
import { relabelling } from "./suites/relabelling.ts";
import { scaleResolver } from "./suites/scale-resolver.ts";
import { scoring } from "./suites/scoring.ts";
import { sim } from "./suites/sim.ts";
import { startup } from "./suites/startup.ts";
import { weights } from "./suites/weights.ts";

const suites: readonly Suite[] = [
  startup,
  kube,
  scoring,
  sim,
  weights,
  forward,
  rebalancesSuite,
  scaleResolver,
  evictions,
  relabelling,
  collectors,
  endpointProxy,
];

const usage = `Usage: make bench SUITE=<name>

Prints a table, writes docs/benchmarks/<name>.json and .svg, and exits 1 if a bar is missed.
${suites.map(({ name, about }) => `  ${name.padEnd(14)} ${about}`).join("\n")}
`;

async function bench(name: string | undefined): Promise<number> {
  const suite = suites.find((candidate) => candidate.name === name);
  if (!suite) {
    console.error(usage);
    return name === "--help" ? 0 : 2;
  }
  const { results, plot } = await suite.run((line) => console.error(line));
  const folder = join(import.meta.dirname, "../../../docs/benchmarks");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${suite.name}.json`), `${JSON.stringify(results, undefined, 2)}\n`);
  writeFileSync(join(folder, `${suite.name}.svg`), chart(plot));
  console.log(resultTable(results));
  return results.every(({ ok }) => ok) ? 0 : 1;
}

process.exitCode = await bench(process.argv[2]);
