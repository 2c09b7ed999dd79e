import { type Fields, fieldsOr, valueAt } from "../json.ts";
import type { Schema } from "../schema/schema.ts";
import { ageColumn, builtInColumns, nameColumn } from "./built-in-columns.ts";
import { checkBudget, checkData, checkPod, checkSelector } from "./built-in-checks.ts";
import { checkDefinition } from "./definition-checks.ts";
import { objectSchema } from "./metadata-schema.ts";
import {
  anything,
  conditions,
  count,
  flag,
  integer,
  intOrText,
  keyed,
  list,
  open,
  patched,
  text,
  textMap,
  texts,
  whole,
  withDefault,
} from "./open-schema.ts";
import { podSpec, podStatus, podTemplate } from "./pod-schema.ts";
import type { ResourceType } from "./resource-type.ts";

type Properties = Readonly<Record<string, Schema>>;
type Own = Partial<Omit<ResourceType, "schema">> & { readonly required?: readonly string[] };

const spec = open();
const status = open({ conditions });
const apart = { status: "apart", generation: true } as const;
const workload = {
  ...apart,
  scale: { ...replicas("spec"), selector: ["spec", "selector"] },
  check: checkSelector,
  required: ["spec"],
};

function replicas(at: string): { replicas: string[]; statusReplicas: string[] } {
  return { replicas: [at, "replicas"], statusReplicas: ["status", "replicas"] };
}

/** `apiVersion kind plural`, the fields that such objects have, and what else sets the type apart. */
function builtIn(name: string, properties: Properties, { required = [], ...own }: Own = {}): ResourceType {
  const [apiVersion = "", kind = "", plural = "", scope] = name.split(" ");
  const [version = "", group = ""] = apiVersion.split("/").toReversed();
  return {
    ...{
      group,
      version,
      kind,
      plural,
      singular: kind.toLowerCase(),
      listKind: `${kind}List`,
      shortNames: [],
      categories: [],
    },
    ...{ namespaced: scope !== "cluster", custom: false, nameRule: "subdomain", status: false, scale: undefined },
    ...{ generation: false, review: false, answersWithDeleted: false },
    columns: builtInColumns[plural] ?? [nameColumn, ageColumn],
    schema: objectSchema({ properties, required }),
    ...own,
    selectable: ["metadata.name", "metadata.namespace", ...(own.selectable ?? [])],
  };
}

const replicaSpec = (properties: Properties = {}): Schema =>
  open(
    { replicas: withDefault(count, 1), selector: whole, template: podTemplate, minReadySeconds: count, ...properties },
    ["selector", "template"],
  );
const budgetStatus = open({
  conditions,
  disruptionsAllowed: integer,
  currentHealthy: integer,
  desiredHealthy: integer,
  expectedPods: integer,
});
const servicePort = open({ port: integer, protocol: withDefault(text, "TCP") }, ["port"]);
const rules: Schema = { type: "array", items: open({ verbs: texts }, ["verbs"]) };
const review = { review: true, required: ["spec"] };
const rbac = { nameRule: "segment" } as const;
const binding = { subjects: list, roleRef: { ...whole, required: ["kind", "name"] } };

const pending = (object: Fields): Fields => ({ ...object, status: { phase: "Pending", qosClass: "BestEffort" } });
const activeNamespace = (object: Fields): Fields => ({
  ...{ ...object, spec: { finalizers: ["kubernetes"] }, status: { phase: "Active" } },
  metadata: {
    ...fieldsOr(object["metadata"]),
    labels: {
      ...fieldsOr(valueAt(object, ["metadata", "labels"])),
      "kubernetes.io/metadata.name": valueAt(object, ["metadata", "name"]),
    },
  },
});
const definitionStatus = (object: Fields): Fields => ({ ...object, status: { conditions: [], storedVersions: [] } });

/** Every built-in type that the server serves. */
export const builtInTypes: readonly ResourceType[] = [
  builtIn(
    "v1 Namespace namespaces cluster",
    { spec, status },
    {
      ...{
        nameRule: "label",
        status: "apart",
        shortNames: ["ns"],
        selectable: ["status.phase"],
        prepare: activeNamespace,
      },
    },
  ),
  builtIn(
    "v1 Node nodes cluster",
    {
      spec: withDefault(
        open({ taints: patched(open(), "key"), podCIDRs: { ...texts, "x-kubernetes-list-type": "set" } }),
        {},
      ),
      status: open({ conditions, addresses: keyed(open(), ["type"]) }),
    },
    {
      ...{ status: "open", shortNames: ["no"], selectable: ["spec.unschedulable"] },
    },
  ),
  builtIn(
    "v1 Pod pods",
    { spec: podSpec, status: podStatus },
    {
      ...{ ...apart, shortNames: ["po"], categories: ["all"], required: ["spec"], prepare: pending, check: checkPod },
      ...{ answersWithDeleted: true },
      selectable: [
        "spec.nodeName",
        "spec.restartPolicy",
        "spec.schedulerName",
        "spec.serviceAccountName",
        "spec.hostNetwork",
        "status.phase",
        "status.podIP",
        "status.nominatedNodeName",
      ],
    },
  ),
  builtIn(
    "v1 Service services",
    {
      spec: open({
        ports: keyed(servicePort, ["port", "protocol"]),
        selector: { ...textMap, "x-kubernetes-map-type": "atomic" },
        type: withDefault(text, "ClusterIP"),
        sessionAffinity: withDefault(text, "None"),
      }),
      status,
    },
    {
      ...{ nameRule: "service", status: "apart", shortNames: ["svc"], categories: ["all"], required: ["spec"] },
      ...{ answersWithDeleted: true, selectable: ["spec.clusterIP", "spec.type"] },
    },
  ),
  builtIn(
    "v1 ConfigMap configmaps",
    { data: textMap, binaryData: textMap, immutable: flag },
    { shortNames: ["cm"], check: checkData },
  ),
  builtIn(
    "v1 Secret secrets",
    { data: textMap, stringData: textMap, immutable: flag, type: withDefault(text, "Opaque") },
    { check: checkData, selectable: ["type"], prepare: withEncodedData },
  ),
  builtIn(
    "v1 ServiceAccount serviceaccounts",
    { secrets: keyed(open(), ["name"]), imagePullSecrets: list, automountServiceAccountToken: flag },
    { shortNames: ["sa"] },
  ),
  builtIn(
    "v1 Event events",
    {
      involvedObject: open(),
      reason: text,
      message: text,
      source: open(),
      firstTimestamp: anything,
      lastTimestamp: anything,
      count: integer,
      type: text,
      eventTime: anything,
      series: anything,
      action: text,
      related: anything,
      reportingComponent: text,
      reportingInstance: text,
    },
    {
      ...{ shortNames: ["ev"], required: ["involvedObject"] },
      selectable: [
        "involvedObject.kind",
        "involvedObject.namespace",
        "involvedObject.name",
        "involvedObject.uid",
        "involvedObject.apiVersion",
        "involvedObject.resourceVersion",
        "involvedObject.fieldPath",
        "reason",
        "reportingComponent",
        "source",
        "type",
      ],
    },
  ),
  builtIn("v1 Endpoints endpoints", { subsets: list }, { shortNames: ["ep"] }),
  builtIn(
    "apps/v1 Deployment deployments",
    {
      spec: replicaSpec({
        progressDeadlineSeconds: withDefault(integer, 600),
        revisionHistoryLimit: withDefault(count, 10),
        strategy: withDefault(open(), {
          type: "RollingUpdate",
          rollingUpdate: { maxSurge: "25%", maxUnavailable: "25%" },
        }),
      }),
      status,
    },
    { ...workload, shortNames: ["deploy"], categories: ["all"] },
  ),
  builtIn(
    "apps/v1 ReplicaSet replicasets",
    { spec: replicaSpec(), status },
    { ...workload, shortNames: ["rs"], categories: ["all"], selectable: ["status.replicas"] },
  ),
  builtIn(
    "apps/v1 StatefulSet statefulsets",
    { spec: replicaSpec({ serviceName: text }), status },
    { ...workload, shortNames: ["sts"], categories: ["all"] },
  ),
  builtIn(
    "apps/v1 DaemonSet daemonsets",
    { spec: open({ selector: whole, template: podTemplate }, ["selector", "template"]), status },
    { ...apart, check: checkSelector, shortNames: ["ds"], categories: ["all"], required: ["spec"] },
  ),
  builtIn(
    "batch/v1 Job jobs",
    { spec: open({ template: podTemplate, selector: whole }, ["template"]), status },
    { ...apart, categories: ["all"], required: ["spec"], selectable: ["status.successful"] },
  ),
  builtIn(
    "discovery.k8s.io/v1 EndpointSlice endpointslices",
    { addressType: text, endpoints: list, ports: list },
    { generation: true, required: ["addressType"] },
  ),
  builtIn(
    "policy/v1 PodDisruptionBudget poddisruptionbudgets",
    { spec: open({ minAvailable: intOrText, maxUnavailable: intOrText, selector: whole }), status: budgetStatus },
    {
      ...{ ...apart, shortNames: ["pdb"], check: checkBudget },
      prepare: (object) => ({
        ...object,
        status: { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 },
      }),
    },
  ),
  builtIn("coordination.k8s.io/v1 Lease leases", {
    spec: open({
      holderIdentity: text,
      leaseDurationSeconds: { type: "integer", minimum: 1 },
      leaseTransitions: count,
      acquireTime: text,
      renewTime: text,
    }),
  }),
  builtIn(
    "events.k8s.io/v1 Event events",
    {
      eventTime: anything,
      series: anything,
      reportingController: text,
      reportingInstance: text,
      action: text,
      reason: text,
      regarding: open(),
      related: anything,
      note: text,
      type: text,
      deprecatedSource: anything,
      deprecatedFirstTimestamp: anything,
      deprecatedLastTimestamp: anything,
      deprecatedCount: integer,
    },
    {
      selectable: [
        "reason",
        "reportingController",
        "regarding.kind",
        "regarding.namespace",
        "regarding.name",
        "regarding.uid",
        "type",
      ],
    },
  ),
  builtIn(
    "autoscaling/v2 HorizontalPodAutoscaler horizontalpodautoscalers",
    {
      spec: open({ maxReplicas: integer, minReplicas: withDefault(integer, 1), scaleTargetRef: open() }, [
        "maxReplicas",
        "scaleTargetRef",
      ]),
      status,
    },
    { status: "apart", shortNames: ["hpa"], categories: ["all"] },
  ),
  builtIn(
    "apiextensions.k8s.io/v1 CustomResourceDefinition customresourcedefinitions cluster",
    {
      spec: open(
        {
          group: text,
          scope: { type: "string", enum: ["Namespaced", "Cluster"] },
          names: open({ plural: text, kind: text }, ["plural", "kind"]),
          versions: list,
        },
        ["group", "names", "scope", "versions"],
      ),
      status,
    },
    { ...apart, shortNames: ["crd", "crds"], required: ["spec"], check: checkDefinition, prepare: definitionStatus },
  ),
  builtIn("rbac.authorization.k8s.io/v1 Role roles", { rules }, rbac),
  builtIn("rbac.authorization.k8s.io/v1 ClusterRole clusterroles cluster", { rules, aggregationRule: anything }, rbac),
  builtIn("rbac.authorization.k8s.io/v1 RoleBinding rolebindings", binding, { ...rbac, required: ["roleRef"] }),
  builtIn("rbac.authorization.k8s.io/v1 ClusterRoleBinding clusterrolebindings cluster", binding, {
    ...rbac,
    required: ["roleRef"],
  }),
  builtIn("authentication.k8s.io/v1 TokenReview tokenreviews cluster", { spec, status }, review),
  builtIn("authorization.k8s.io/v1 SubjectAccessReview subjectaccessreviews cluster", { spec, status }, review),
  builtIn("authorization.k8s.io/v1 SelfSubjectAccessReview selfsubjectaccessreviews cluster", { spec, status }, review),
];

/** A Secret's stringData is a way to write data, not a field. */
function withEncodedData(object: Fields): Fields {
  const { stringData, ...rest } = object;
  if (stringData === undefined) return rest;
  const encoded = Object.entries(fieldsOr(stringData)).map(([key, value]) => [
    key,
    Buffer.from(String(value)).toString("base64"),
  ]);
  return { ...rest, data: { ...fieldsOr(object["data"]), ...Object.fromEntries(encoded) } };
}
