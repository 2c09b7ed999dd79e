import { equal, type Fields, fieldsOr, omit, textOr } from "../../json.ts";
import type { StoredObject } from "../../object.ts";
import type { World } from "../behaviour.ts";
import { countOf } from "../int-or-percent.ts";
import type { ObjectIndex } from "../object-index.ts";
import {
  controlledBy,
  isGoing,
  nonZero,
  numberOr,
  placeOf,
  putStatus,
  specOf,
  statusOf,
  tables,
  typeOf,
  withConditions,
} from "../object-state.ts";
import { ownerBehaviour } from "../owner-behaviour.ts";
import type { Work } from "../work.ts";
import { templateHash } from "./pod-template.ts";
import { pausedSizes, recreateSizes, rollingSizes, type Size } from "./rollout.ts";

const HASH = "pod-template-hash";
const REVISION = "deployment.kubernetes.io/revision";
const options = { manager: "kube-controller-manager" };

/**
 * Runs each Deployment by one ReplicaSet a template, and rolls from one to the next. Deadlines of progress are not
 * watched.
 */
export const deployments = ownerBehaviour({
  owners: tables.deployments,
  owned: tables.replicaSets,
  kind: "Deployment",
  sync,
});

function sync(world: World, index: ObjectIndex, _work: Work, key: string): void {
  const deployment = world.store.table(tables.deployments).get(key);
  if (deployment === undefined) return;
  const owned = (): StoredObject[] =>
    [...index.get(deployment.metadata.uid)]
      .map((one) => world.store.table(tables.replicaSets).get(one))
      .filter((one) => one !== undefined)
      .toSorted((one, other) => revisionOf(one) - revisionOf(other));
  if (!isGoing(deployment)) roll(world, deployment, owned());
  count(world, deployment, owned());
}

function roll(world: World, deployment: StoredObject, replicaSets: readonly StoredObject[]): void {
  const spec = specOf(deployment);
  const replicas = numberOr(spec["replicas"], 1);
  const current = replicaSets.find((one) => isOf(one, deployment));
  if (spec["paused"] === true) {
    const newest = replicaSets.at(-1);
    if (newest !== undefined) {
      resize(world, replicaSets, pausedSizes(replicas, sizeOf(newest), replicaSets.slice(0, -1).map(sizeOf)));
    }
    return;
  }
  const fresh = current ?? create(world, deployment, replicaSets);
  const old = replicaSets.filter((one) => one !== fresh);
  number(world, deployment, fresh, old);
  const strategy = fieldsOr(spec["strategy"]);
  const { maxSurge: surge = "25%", maxUnavailable: unavailable = "25%" } = fieldsOr(strategy["rollingUpdate"]);
  const maxSurge = countOf(surge, replicas, "up") ?? 0;
  const missing = countOf(unavailable, replicas, "down") ?? 0;
  // Without any room nothing could ever move.
  const maxUnavailable = Math.min(replicas, maxSurge === 0 && missing === 0 ? 1 : missing);
  const next =
    strategy["type"] === "Recreate"
      ? recreateSizes(replicas, sizeOf(fresh), old.map(sizeOf))
      : rollingSizes({ replicas, maxSurge, maxUnavailable }, sizeOf(fresh), old.map(sizeOf));
  resize(world, [fresh, ...old], next);
  forget(world, old, numberOr(spec["revisionHistoryLimit"], 10));
}

/** Whether a ReplicaSet is the one of the Deployment's template as it is now. */
function isOf(replicaSet: StoredObject, deployment: StoredObject): boolean {
  const template = fieldsOr(specOf(replicaSet)["template"]);
  const metadata = fieldsOr(template["metadata"]);
  const own = { ...template, metadata: { ...metadata, labels: omit(fieldsOr(metadata["labels"]), HASH) } };
  return equal(own, specOf(deployment)["template"]);
}

function create(world: World, deployment: StoredObject, others: readonly StoredObject[]): StoredObject {
  const { name, namespace } = deployment.metadata;
  const { selector, template, minReadySeconds } = specOf(deployment);
  const hash = templateHash(template);
  const metadata = fieldsOr(fieldsOr(template)["metadata"]);
  const labels = { ...fieldsOr(metadata["labels"]), [HASH]: hash };
  const matchLabels = { ...fieldsOr(fieldsOr(selector)["matchLabels"]), [HASH]: hash };
  const body = {
    metadata: {
      ...{ name: `${name}-${hash}`, labels, ownerReferences: [controlledBy(deployment)] },
      annotations: { [REVISION]: String(nextRevision(others)) },
    },
    spec: omit({
      ...{ replicas: 0, minReadySeconds, selector: { ...fieldsOr(selector), matchLabels } },
      template: { ...fieldsOr(template), metadata: { ...metadata, labels } },
    }),
  };
  return world.objects.create(typeOf(world.types, tables.replicaSets), namespace, body, options).object;
}

function revisionOf({ metadata }: StoredObject): number {
  return Number(metadata.annotations?.[REVISION] ?? 0);
}

function nextRevision(replicaSets: readonly StoredObject[]): number {
  return Math.max(0, ...replicaSets.map(revisionOf)) + 1;
}

/**
 * Gives the current ReplicaSet the highest revision, also if the Deployment came back to it, and tells the Deployment.
 */
function number(world: World, deployment: StoredObject, fresh: StoredObject, old: readonly StoredObject[]): void {
  const revision = String(Math.max(revisionOf(fresh), nextRevision(old)));
  for (const [table, object] of [
    [tables.replicaSets, fresh],
    [tables.deployments, deployment],
  ] as const) {
    if (object.metadata.annotations?.[REVISION] === revision) continue;
    const change = ({ metadata, ...rest }: StoredObject): Fields => ({
      ...{ ...rest, metadata: { ...metadata, annotations: { ...metadata.annotations, [REVISION]: revision } } },
    });
    world.objects.update(typeOf(world.types, table), placeOf(object), change, options);
  }
}

function sizeOf(replicaSet: StoredObject): Size {
  const { replicas, availableReplicas } = statusOf(replicaSet);
  return {
    name: replicaSet.metadata.name,
    wanted: numberOr(specOf(replicaSet)["replicas"], 1),
    present: numberOr(replicas, 0),
    available: numberOr(availableReplicas, 0),
  };
}

function resize(world: World, replicaSets: readonly StoredObject[], sizes: ReadonlyMap<string, number>): void {
  const type = typeOf(world.types, tables.replicaSets);
  for (const one of replicaSets) {
    const replicas = sizes.get(one.metadata.name);
    if (replicas === undefined || replicas === specOf(one)["replicas"]) continue;
    const change = (old: StoredObject): Fields => ({ ...old, spec: { ...specOf(old), replicas } });
    world.objects.update(type, placeOf(one), change, options);
  }
}

/** Deletes the oldest ReplicaSets without pods, up to the number that the history keeps. */
function forget({ objects, types }: World, old: readonly StoredObject[], limit: number): void {
  const idle = old.filter((one) => sizeOf(one).wanted === 0 && sizeOf(one).present === 0 && !isGoing(one));
  for (const one of idle.slice(0, Math.max(0, idle.length - limit))) {
    objects.delete(typeOf(types, tables.replicaSets), placeOf(one), { propagationPolicy: "Background" });
  }
}

function count(world: World, deployment: StoredObject, replicaSets: readonly StoredObject[]): void {
  const spec = specOf(deployment);
  const wanted = numberOr(spec["replicas"], 1);
  const sum = (field: string, of: readonly StoredObject[] = replicaSets): number =>
    of.reduce((total, one) => total + numberOr(statusOf(one)[field], 0), 0);
  const fresh = replicaSets.filter((one) => isOf(one, deployment));
  const [replicas, updated, available] = [sum("replicas"), sum("replicas", fresh), sum("availableReplicas")];
  const unavailable = countOf(fieldsOr(fieldsOr(spec["strategy"])["rollingUpdate"])["maxUnavailable"], wanted, "down");
  const enough = available >= wanted - (unavailable ?? 0);
  const done = updated === wanted && replicas === wanted && available >= wanted;
  const name = textOr(fresh[0]?.metadata.name);
  const conditions = withConditions(
    deployment,
    [
      {
        ...{ type: "Available", status: enough ? "True" : "False" },
        reason: enough ? "MinimumReplicasAvailable" : "MinimumReplicasUnavailable",
        message: `Deployment ${enough ? "has" : "does not have"} minimum availability.`,
      },
      {
        ...{ type: "Progressing", status: "True", reason: done ? "NewReplicaSetAvailable" : "ReplicaSetUpdated" },
        message: `ReplicaSet "${name}" ${done ? "has successfully progressed" : "is progressing"}.`,
      },
    ],
    world.clock.now(),
  );
  putStatus(world, tables.deployments, deployment, {
    observedGeneration: deployment.metadata.generation,
    ...nonZero({
      ...{ replicas, updatedReplicas: updated, readyReplicas: sum("readyReplicas"), availableReplicas: available },
      unavailableReplicas: Math.max(0, replicas - available),
    }),
    conditions,
  });
}
