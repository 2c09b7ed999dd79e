import { z } from "zod";
import { conditions } from "./condition.ts";
import { int32, integer } from "./field.ts";
import { defineKind, type StatusOf } from "./kind.ts";
import { parse } from "./parse.ts";

/** Not negative: the scale subresource refuses that by itself. */
const count = () => int32().min(0);

const spec = z
  .object({
    replicas: count().describe("Collectors to run. Ignored while `scale` is enabled.").exactOptional(),
    scale: z
      .object({
        enabled: z.boolean().describe("Choose the number of collectors by their targets.").exactOptional(),
        expected_targets_per_collector: integer().describe("Targets one collector should carry.").exactOptional(),
        min_replicas: integer().describe("The least number of collectors.").exactOptional(),
        max_replicas: integer().describe("The greatest number of collectors.").exactOptional(),
      })
      .describe("The built-in scaler.")
      .exactOptional(),
    collectorImage: z.string().describe("Image of the collectors.").exactOptional(),
    collectorConfig: z.string().describe("The collectors' whole configuration, as YAML.").exactOptional(),
  })
  .describe("The collectors, and the targets in their configuration.")
  .prefault({});

const status = z
  .object({
    replicas: count().describe("Collectors observed.").exactOptional(),
    selector: z.string().describe("Labels of the collectors' pods, in the form a HorizontalPodAutoscaler reads."),
    conditions: conditions().exactOptional(),
  })
  .describe("Which collectors run.");

export const KIND = defineKind(
  {
    service: "collector-scheduler",
    group: "otel.k8s.aws",
    version: "v1",
    kind: "CollectorLoadBalancer",
    plural: "collectorloadbalancers",
    singular: "collectorloadbalancer",
    shortNames: [],
    scope: "Namespaced",
    description: "Telemetry collectors that share their scrape targets.",
    printerColumns: [],
    scale: {
      specReplicasPath: ".spec.replicas",
      statusReplicasPath: ".status.replicas",
      labelSelectorPath: ".status.selector",
    },
  },
  { spec, status },
);

export type CollectorLoadBalancer = z.output<typeof KIND.schema>;

export type CollectorLoadBalancerStatus = StatusOf<typeof KIND>;

export const parseCollectorLoadBalancer = (input: unknown) => parse(KIND.schema, input);
