import type { Schema } from "../schema/schema.ts";
import {
  conditions,
  count,
  flag,
  integer,
  keyed,
  list,
  open,
  patched,
  text,
  textMap,
  withDefault,
} from "./open-schema.ts";

const ports = keyed(open({ containerPort: integer, protocol: withDefault(text, "TCP") }, ["containerPort"]), [
  "containerPort",
  "protocol",
]);

const container = open(
  {
    name: text,
    image: text,
    command: { type: "array", items: text },
    args: { type: "array", items: text },
    ports,
    env: keyed(open({ name: text, value: text }, ["name"]), ["name"]),
    envFrom: list,
    resources: withDefault(open({ claims: keyed(open(), ["name"]) }), {}),
    volumeMounts: keyed(open({ name: text, mountPath: text }, ["name", "mountPath"]), ["mountPath"]),
    volumeDevices: keyed(open(), ["devicePath"]),
    terminationMessagePath: withDefault(text, "/dev/termination-log"),
    terminationMessagePolicy: withDefault(text, "File"),
    imagePullPolicy: withDefault({ type: "string", enum: ["Always", "IfNotPresent", "Never"] }, "IfNotPresent"),
  },
  ["name"],
);

export const podSpec: Schema = open(
  {
    containers: { ...keyed(container, ["name"]), minItems: 1 },
    initContainers: keyed(container, ["name"]),
    ephemeralContainers: keyed(open(), ["name"]),
    volumes: keyed(open(), ["name"]),
    imagePullSecrets: keyed(open(), ["name"]),
    hostAliases: keyed(open(), ["ip"]),
    topologySpreadConstraints: keyed(open(), ["topologyKey", "whenUnsatisfiable"]),
    schedulingGates: keyed(open(), ["name"]),
    resourceClaims: keyed(open(), ["name"]),
    tolerations: list,
    nodeSelector: { ...textMap, "x-kubernetes-map-type": "atomic" },
    nodeName: text,
    hostNetwork: flag,
    priority: integer,
    activeDeadlineSeconds: { type: "integer", minimum: 1 },
    restartPolicy: withDefault({ type: "string", enum: ["Always", "OnFailure", "Never"] }, "Always"),
    terminationGracePeriodSeconds: withDefault(count, 30),
    dnsPolicy: withDefault(text, "ClusterFirst"),
    schedulerName: withDefault(text, "default-scheduler"),
    securityContext: withDefault(open(), {}),
  },
  ["containers"],
);

const podMetadata = open({ labels: textMap, annotations: textMap });

/** The template of a workload's pods. */
export const podTemplate: Schema = open({ metadata: podMetadata, spec: podSpec }, ["spec"]);

export const podStatus: Schema = open({
  phase: text,
  conditions,
  podIPs: keyed(open(), ["ip"]),
  hostIPs: patched(open(), "ip"),
  containerStatuses: list,
  initContainerStatuses: list,
});
