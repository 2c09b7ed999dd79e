import { readFile } from "node:fs/promises";

/** Points that kube-scheduler gave to one node for one pod. */
export interface LoggedScores {
  /** By plugin, with its weight. A plugin that had nothing to say about the pod is not there. */
  readonly plugins: Map<string, number>;
  total: number;
}

/** By pod (`namespace/name`), then by node: the nodes that were scored in the pod's last attempt. */
export type SchedulerLog = ReadonlyMap<string, ReadonlyMap<string, LoggedScores>>;

interface Line {
  readonly msg: string;
  readonly pod: { readonly namespace: string; readonly name: string };
  readonly node: string;
  readonly plugin: string;
  readonly score: number;
}

const PLUGIN = "Plugin scored node for pod";
const TOTAL = "Calculated node's final score for pod";

/** Reads what kube-scheduler writes at `--v=10 --logging-format=json`, from a byte on. */
export async function readSchedulerLog(file: string, start: number): Promise<SchedulerLog> {
  const log = new Map<string, Map<string, LoggedScores>>();
  const text = (await readFile(file)).subarray(start).toString();
  for (let from = 0, to; from < text.length; from = to + 1) {
    to = text.indexOf("\n", from);
    if (to < 0) to = text.length;
    const line = text.slice(from, to);
    if (line.includes(PLUGIN) || line.includes(TOTAL)) note(log, JSON.parse(line) as Line);
  }
  return log;
}

function note(log: Map<string, Map<string, LoggedScores>>, { msg, pod, node, plugin, score }: Line): void {
  const key = `${pod.namespace}/${pod.name}`;
  const nodes = log.get(key) ?? new Map<string, LoggedScores>();
  log.set(key, nodes);
  const scores = nodes.get(node) ?? { plugins: new Map<string, number>(), total: 0 };
  nodes.set(node, scores);
  if (msg === PLUGIN) scores.plugins.set(plugin, score);
  else scores.total = score;
}
