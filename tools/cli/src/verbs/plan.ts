import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { snapshotText, studyInWorker, withHashedNames } from "@evenkeel/eviction-planner/observe";
import type { PlanSnapshot } from "@evenkeel/eviction-planner/plan";
import { explain } from "@evenkeel/runtime";
import { CannotWrite, NothingToPlanOn, WrongUsage } from "../errors.ts";
import { kneeOf } from "../plan/curve.ts";
import { planInput } from "../plan/plan-input.ts";
import { planSettings } from "../plan/plan-settings.ts";
import { showPlan } from "../plan/plan-text.ts";
import { Progress } from "../plan/progress.ts";
import { defineVerb, type Session } from "../verb.ts";

/** What a plan depends on, for `kubectl get`. */
const RESOURCES = [
  ...["nodes", "pods", "namespaces", "deployments", "replicasets", "statefulsets", "replicationcontrollers"],
  ...["poddisruptionbudgets", "persistentvolumes", "persistentvolumeclaims", "csinodes"],
].join(",");

export const plan = defineVerb({
  name: "plan",
  usage: ["", "-f <file>", "--save <file>"],
  summary: "Shows which evictions would level the nodes, where the pods would land, and the lower bound of any plan",
  details: [
    "Reads a cluster or files, and changes nothing. Nothing needs to be installed. For files:",
    `  kubectl get ${RESOURCES} -A -o json > cluster.json`,
    "  kubectl get --raw /apis/metrics.k8s.io/v1beta1/nodes > nodes.json",
    "  kubectl get --raw /apis/metrics.k8s.io/v1beta1/pods > pods.json",
    "  kubectl evenkeel plan -f cluster.json -f nodes.json -f pods.json",
    "Files may be compressed with gzip. Exits 0 if nothing should be evicted, 1 if evictions would help, 2 if no plan can be made.",
  ],
  settings: planSettings,
  words: { least: 0, most: 0 },
  failure: 2,
  run: async (session, settings) => {
    const { screen, clock, signal, program } = session;
    const { output, save, hashNames, compare: band = null } = settings;
    if (hashNames && save === undefined) throw new WrongUsage({ fault: "--hash-names needs --save" });
    const { snapshot, notes } = await planInput(session, settings);
    if (save !== undefined) await saveSnapshot(session, save, snapshot, hashNames);
    const progress = new Progress(clock, (line) => screen.note(line));
    const study = studyInWorker(snapshot, { prices: true, band }, program, signal);
    const answer = await progress.during(() => "planning", study);
    const { plan: made, prices, comparison } = answer;
    const faults = made.faults.map(({ field, message }) => `${field}: ${message}`);
    if (faults.length > 0) throw new WrongUsage({ fault: `policy ${made.policy}: ${faults.join("; ")}` });
    if (made.sigma === null)
      throw new NothingToPlanOn({
        known: made.nodes.known,
        nodes: snapshot.cluster.nodes.length,
        why: notes.join(" "),
      });
    if (output === "json") {
      const { policy, at, budget } = snapshot;
      screen.json({
        at: new Date(at).toISOString(),
        notes,
        budget,
        policy,
        knee: kneeOf(made) ?? null,
        plan: made,
        prices,
        comparison,
      });
    } else showPlan(screen, snapshot, answer, notes);
    return made.moves.length > 0 ? 1 : 0;
  },
});

async function saveSnapshot(
  { screen, version }: Session,
  file: string,
  snapshot: PlanSnapshot,
  isHashed: boolean,
): Promise<void> {
  const saved = isHashed ? withHashedNames(snapshot, randomBytes(16).toString("hex")) : snapshot;
  await writeFile(file, snapshotText(saved, version), { mode: 0o600 }).catch((cause: unknown) => {
    throw new CannotWrite({ file, fault: explain(cause) });
  });
  screen.note(`saved the snapshot to ${file}; plan on it again with -f ${file}`);
}
