import { createInterface } from "node:readline";
import { type Labels, relabelling } from "@evenkeel/relabel";
import { world } from "./world.ts";

/**
 * Our contender: a line on standard input starts a round, a line on standard output has its CPU seconds and targets
 * kept.
 */
const groups = Array.from({ length: world.groups }, (_, g) => ({
  labels: filled(world.groupLabels, g, 0),
  targets: Array.from({ length: world.targets }, (_, t) => filled(world.targetLabels, g, t)),
}));

function filled(templates: Readonly<Record<string, string>>, g: number, t: number): Labels {
  const fill = (text: string) => text.replaceAll("{g}", String(g)).replaceAll("{t}", String(t));
  return new Map(Object.entries(templates).map(([name, text]) => [name, fill(text)]));
}

function pass(name: string): Labels[] {
  const compilation = relabelling({
    jobName: name,
    scheme: "http",
    metricsPath: "/metrics",
    scrapeInterval: "1m",
    scrapeTimeout: "10s",
    params: new Map(),
    convertClassicHistograms: false,
    alwaysScrapeClassicHistograms: false,
    scrapeNativeHistograms: false,
    names: "utf8",
    rules: world.jobs[name] ?? [],
  });
  if (!compilation.ok) throw new Error(compilation.faults.map(({ message }) => message).join("; "));
  const kept: Labels[] = [];
  for (const { labels, targets } of groups) {
    for (const target of targets) {
      const outcome = compilation.relabelling.outcome(labels, target);
      if (outcome.kind === "invalid") throw new Error(outcome.message);
      if (outcome.kind === "kept") kept.push(outcome.labels);
    }
  }
  return kept;
}

console.log("ready");
for await (const name of createInterface(process.stdin)) {
  globalThis.gc?.();
  const before = process.cpuUsage();
  const kept = pass(name);
  const { user, system } = process.cpuUsage(before);
  console.log((user + system) / 1e6, kept.length);
}
