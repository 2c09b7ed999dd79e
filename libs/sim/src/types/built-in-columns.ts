import { fieldsOr, isFields, listOr, textOr, valueAt } from "../json.ts";
import type { StoredObject } from "../object.ts";
import { age } from "../serve/age.ts";
import type { Column } from "./resource-type.ts";

export const nameColumn: Column = {
  ...{ name: "Name", type: "string", format: "name", cell: (object) => object.metadata.name },
};

export const ageColumn: Column = {
  ...{ name: "Age", type: "string", cell: ({ metadata }, now) => age(metadata.creationTimestamp, now) },
};

const at = (name: string, type: string, path: string, otherwise: unknown = "<none>"): Column => ({
  ...{ name, type, cell: (object) => valueAt(object, path.split(".")) ?? otherwise },
});
const number = (name: string, path: string): Column => at(name, "integer", path, 0);
const between = (...own: readonly Column[]): readonly Column[] => [nameColumn, ...own, ageColumn];

const ratio = (name: string, path: string, of: string): Column => ({
  ...{ name, type: "string" },
  cell: (object) => `${count(object, path)}/${count(object, of)}`,
});

function count(object: StoredObject, path: string): number {
  const value = valueAt(object, path.split("."));
  return typeof value === "number" ? value : 0;
}

const statuses = (object: StoredObject): readonly unknown[] => listOr(valueAt(object, ["status", "containerStatuses"]));

function podReady(object: StoredObject): string {
  const ready = statuses(object).filter((status) => isFields(status) && status["ready"] === true);
  return `${ready.length}/${listOr(valueAt(object, ["spec", "containers"])).length}`;
}

function podRestarts(object: StoredObject): string {
  const restarts = statuses(object).map((status) => Number(fieldsOr(status)["restartCount"] ?? 0));
  return String(restarts.reduce((sum, each) => sum + each, 0));
}

function podPhase({ metadata, ...object }: StoredObject): string {
  return metadata.deletionTimestamp === undefined
    ? textOr(valueAt(object, ["status", "phase"]), "Unknown")
    : "Terminating";
}

function nodeState(object: StoredObject): string {
  const conditions = listOr(valueAt(object, ["status", "conditions"])).map(fieldsOr);
  const ready = conditions.find(({ type }) => type === "Ready")?.["status"];
  const state = ready === "True" ? "Ready" : ready === undefined ? "Unknown" : "NotReady";
  return valueAt(object, ["spec", "unschedulable"]) === true ? `${state},SchedulingDisabled` : state;
}

/** What `kubectl get` shows of the built-in types, by plural; others show their name and age. */
export const builtInColumns: Readonly<Record<string, readonly Column[]>> = {
  pods: between(
    { name: "Ready", type: "string", cell: podReady },
    { name: "Status", type: "string", cell: podPhase },
    { name: "Restarts", type: "string", cell: podRestarts },
  ),
  nodes: between(
    { name: "Status", type: "string", cell: nodeState },
    at("Version", "string", "status.nodeInfo.kubeletVersion", ""),
  ),
  namespaces: between(at("Status", "string", "status.phase", "")),
  services: between(at("Type", "string", "spec.type"), at("Cluster-IP", "string", "spec.clusterIP")),
  configmaps: between({
    name: "Data",
    type: "integer",
    cell: ({ ["data"]: data }) => Object.keys(fieldsOr(data)).length,
  }),
  deployments: between(
    ratio("Ready", "status.readyReplicas", "spec.replicas"),
    number("Up-to-date", "status.updatedReplicas"),
    number("Available", "status.availableReplicas"),
  ),
  statefulsets: between(ratio("Ready", "status.readyReplicas", "spec.replicas")),
  replicasets: between(
    number("Desired", "spec.replicas"),
    number("Current", "status.replicas"),
    number("Ready", "status.readyReplicas"),
  ),
  poddisruptionbudgets: between(
    at("Min available", "string", "spec.minAvailable", "N/A"),
    at("Max unavailable", "string", "spec.maxUnavailable", "N/A"),
    number("Allowed disruptions", "status.disruptionsAllowed"),
  ),
  leases: between(at("Holder", "string", "spec.holderIdentity", "")),
  customresourcedefinitions: [nameColumn, at("Created At", "date", "metadata.creationTimestamp", "")],
};
