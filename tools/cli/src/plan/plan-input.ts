import {
  type CollectedObjects,
  defaultPolicy,
  listCluster,
  NO_USAGE,
  readFiles,
  snapshotOf,
  UnusableUsage,
  type Usage,
  usageContradictions,
  usageSource,
} from "@evenkeel/eviction-planner/observe";
import type { PlanSnapshot } from "@evenkeel/eviction-planner/plan";
import { type KubeClient, kubeErrors } from "@evenkeel/kube";
import { type Component, explain, type SettingsOf } from "@evenkeel/runtime";
import { WrongUsage } from "../errors.ts";
import { openKube } from "../reach/reach.ts";
import type { Session } from "../verb.ts";
import type { planSettings } from "./plan-settings.ts";
import { Progress } from "./progress.ts";
import { readPolicy } from "./read-policy.ts";

export type PlanSettings = SettingsOf<typeof planSettings>;

/** What the plan is made from. */
export interface PlanInput {
  readonly snapshot: PlanSnapshot;
  /** What the reader should know about it. */
  readonly notes: readonly string[];
}

interface Read {
  readonly collected: CollectedObjects;
  readonly usage: Usage;
  /** Why there is no usage. */
  readonly fault?: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** As the service has it by default. */
const EMPTY_DIR_LIMIT = 2 * 2 ** 30;

/** Reads files, or a cluster and its usage, into a snapshot. Changes nothing. */
export async function planInput(session: Session, settings: PlanSettings): Promise<PlanInput> {
  const { screen, clock, signal, input } = session;
  const progress = new Progress(clock, (line) => screen.note(line));
  const { file: files, policy: policyFile, budget } = settings;
  const [fault] = usageContradictions(settings);
  if (fault !== undefined) throw new WrongUsage({ fault });
  const given = policyFile === undefined ? undefined : await readPolicy(policyFile);
  let read: Read;
  if (files === undefined) read = await ofCluster(session, settings, progress);
  else {
    const onProgress = (bytes: number): void =>
      progress.report(() => `read ${Math.round(bytes / 1e6)} MB of ${files.join(", ")}`);
    const contents = await readFiles(files, { stdin: input, signal, onProgress });
    if (contents.kind === "snapshot") {
      const { snapshot, version } = contents.saved;
      const notes = [`Planned on the snapshot in ${files.join(", ")}, which version ${version} saved.`];
      return { snapshot: { ...snapshot, budget, ...(given && { policy: given }) }, notes };
    }
    const { collected } = contents;
    read = { collected, usage: collected.usage, at: newest(collected.usage) ?? clock.now() };
  }
  const { collected, usage, at, fault: why = "the files have no NodeMetrics" } = read;
  const isMeasured = usage.nodes.size > 0;
  const policy = given ?? (isMeasured ? defaultPolicy() : onRequests(defaultPolicy()));
  const options = { policy, budget, at, memory: null, emptyDirLimit: EMPTY_DIR_LIMIT };
  const notes = [
    given === undefined
      ? "No --policy: the default policy applies, to all workloads outside of kube-system."
      : `Policy ${given.name} of ${policyFile ?? ""}.`,
    ...(isMeasured || given?.spec.basis === "requests" ? [] : [withoutUsage(why, given !== undefined)]),
    ...missingOwners(collected),
  ];
  return { snapshot: await snapshotOf(collected.objects, usage, options), notes };
}

async function ofCluster(session: Session, settings: PlanSettings, progress: Progress): Promise<Read> {
  const { signal, clock } = session;
  const kube = openKube(session, {
    ...settings,
    address: undefined,
    tokenFile: undefined,
    service: undefined,
    serviceNamespace: undefined,
  });
  try {
    await kube.namespace();
    const onProgress = (kind: string, count: number): void => progress.report(() => `read ${count} ${kind}`);
    const collected = await listCluster(kube, { signal, onProgress });
    const { usage, fault } = await progress.during(() => "reading usage", readUsage(session, settings, kube));
    return { collected, usage, at: clock.now(), ...(fault !== undefined && { fault }) };
  } finally {
    await kube.stop();
  }
}

/** Usage, or why there is none: a cluster without metrics-server is planned on requests. */
async function readUsage(
  { signal, clock, env }: Session,
  settings: PlanSettings,
  kube: KubeClient,
): Promise<{ readonly usage: Usage; readonly fault?: string }> {
  const used: Component[] = [];
  const source = usageSource(settings, { kube, clock, env, use: (client) => used.push(client) });
  try {
    return { usage: await source.read(signal) };
  } catch (error) {
    if (settings.prometheusAddress !== undefined || !isAbsent(error)) throw error;
    return { usage: NO_USAGE, fault: `metrics.k8s.io does not answer (${explain(error)})` };
  } finally {
    for (const client of used) await client.stop?.(signal);
  }
}

/** The API is not installed, its server is down, or the user may not read it. */
function isAbsent(error: unknown): boolean {
  const { NotFound, ServerUnavailable, Forbidden } = kubeErrors;
  return [NotFound, ServerUnavailable, Forbidden, UnusableUsage].some((kind) => error instanceof kind);
}

function newest({ nodes }: Usage): number | undefined {
  const times = [...nodes.values()].map(({ at }) => at).filter((at) => !Number.isNaN(at));
  return times.length === 0 ? undefined : times.reduce((latest, at) => Math.max(latest, at));
}

function onRequests({ name, spec }: PlanSnapshot["policy"]): PlanSnapshot["policy"] {
  return { name, spec: { ...spec, basis: "requests" } };
}

function withoutUsage(fault: string, hasPolicy: boolean): string {
  return hasPolicy
    ? `No usage: ${fault}. Only a policy with basis: requests can be planned without it.`
    : `No usage: ${fault}. The plan levels what pods request instead.`;
}

/** Pods whose owners are not in the files cannot be moved, which looks as if nothing could be done. */
function missingOwners(collected: CollectedObjects): readonly string[] {
  return collected.count("pods") > 0 && collected.count("replicaSets") === 0
    ? ["There are no ReplicaSets, so that pods of Deployments stay: add replicasets and deployments to kubectl get."]
    : [];
}
