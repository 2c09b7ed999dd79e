import type { Schema } from "../schema/schema.ts";
import { checkBudget, checkSelector } from "./built-in-checks.ts";
import { apart, builtIn, type Properties } from "./built-in-type.ts";
import { podTemplate } from "./pod-schema.ts";
import { conditions, count, integer, intOrText, open, text, whole, withDefault } from "./open-schema.ts";
import type { ResourceType } from "./resource-type.ts";

const status = open({ conditions });
const paths = {
  replicas: ["spec", "replicas"],
  statusReplicas: ["status", "replicas"],
  selector: ["spec", "selector"],
};
const workload = { ...apart, scale: paths, check: checkSelector, required: ["spec"] };

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

/** What runs pods, guards them and scales them. */
export const workloadTypes: readonly ResourceType[] = [
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
    "v1 ReplicationController replicationcontrollers",
    { spec: open({ replicas: withDefault(count, 1), template: podTemplate, minReadySeconds: count }), status },
    { ...apart, shortNames: ["rc"], categories: ["all"] },
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
];
