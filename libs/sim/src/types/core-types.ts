import { type Fields, fieldsOr, valueAt } from "../json.ts";
import { checkData, checkPod } from "./built-in-checks.ts";
import { apart, builtIn } from "./built-in-type.ts";
import { podSpec, podStatus } from "./pod-schema.ts";
import {
  conditions,
  flag,
  integer,
  keyed,
  list,
  open,
  patched,
  text,
  textMap,
  texts,
  withDefault,
} from "./open-schema.ts";
import type { ResourceType } from "./resource-type.ts";

const spec = open();
const status = open({ conditions });
const servicePort = open({ port: integer, protocol: withDefault(text, "TCP") }, ["port"]);
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

/** The core group. */
export const coreTypes: readonly ResourceType[] = [
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
    { check: checkData, selectable: ["type"], normalize: withEncodedData },
  ),
  builtIn(
    "v1 ServiceAccount serviceaccounts",
    { secrets: keyed(open(), ["name"]), imagePullSecrets: list, automountServiceAccountToken: flag },
    { shortNames: ["sa"] },
  ),
  builtIn("v1 Endpoints endpoints", { subsets: list }, { shortNames: ["ep"] }),
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
