import type { Fields } from "../json.ts";
import { accessTypes } from "./access-types.ts";
import { apart, builtIn } from "./built-in-type.ts";
import { coreTypes } from "./core-types.ts";
import { checkDefinition } from "./definition-checks.ts";
import { eventTypes } from "./event-types.ts";
import { metricsTypes } from "./metrics-types.ts";
import { volumeTypes } from "./volume-types.ts";
import { workloadTypes } from "./workload-types.ts";
import { conditions, count, list, open, text } from "./open-schema.ts";
import type { ResourceType } from "./resource-type.ts";

const status = open({ conditions });
const definitionStatus = (object: Fields): Fields => ({ ...object, status: { conditions: [], storedVersions: [] } });

/** Every built-in type that the server serves. */
export const builtInTypes: readonly ResourceType[] = [
  ...coreTypes,
  ...workloadTypes,
  ...volumeTypes,
  ...metricsTypes,
  ...accessTypes,
  ...eventTypes,
  builtIn(
    "discovery.k8s.io/v1 EndpointSlice endpointslices",
    { addressType: text, endpoints: list, ports: list },
    { generation: true, required: ["addressType"] },
  ),
  builtIn(
    "networking.k8s.io/v1 Ingress ingresses",
    { spec: open({ ingressClassName: text, rules: list, tls: list }), status: open() },
    { ...apart, shortNames: ["ing"] },
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
];
