import { z } from "zod";
import { conditions } from "./condition.ts";
import { address, boundedText, double, freeForm, int32, integer, period, timeSpan } from "./field.ts";
import { defineKind, type SpecOf, type StatusOf } from "./kind.ts";
import { parse } from "./parse.ts";

/** Not negative: the scale subresource refuses that by itself. */
const count = () => int32().min(0);

const placement = z
  .object({
    pool: z
      .enum(["none", "zone", "node"])
      .describe("Balance targets among the collectors of their own zone or node. Absent: none.")
      .exactOptional(),
    fallback: z
      .enum(["any", "none"])
      .describe("Which collector scrapes a target if its zone or node has none: any collector, or none. Absent: any.")
      .exactOptional(),
    seatGrace: timeSpan()
      .describe("How long a collector keeps its targets while its pod is away. Absent: 2m.")
      .exactOptional(),
    movesPerMinute: int32().min(0).describe("Targets that may move in a minute. Absent: no limit.").exactOptional(),
    cooldown: timeSpan().describe("Time between two rounds of balancing. Absent: 1m.").exactOptional(),
  })
  .describe("Which collector may own a target, and how often targets move.");

const load = z
  .object({
    perScrape: double()
      .min(0)
      .describe("Fixed cost of one scrape per second, in samples per second. Absent: 100.")
      .exactOptional(),
    prometheus: z
      .object({ serverAddress: address().describe("The Prometheus server that stores the scraped series.") })
      .describe("Where the number of series of each target is read.")
      .exactOptional(),
  })
  .describe("What a target costs the collector that scrapes it.");

const handOver = z
  .object({
    policy: z
      .enum(["overlap", "gap"])
      .describe("What happens while a target moves: both collectors scrape it, or neither. Absent: overlap.")
      .exactOptional(),
    jobs: z
      .array(boundedText(253).min(1))
      .max(256)
      .describe("Jobs that the policy is for; the others overlap. Absent: every job.")
      .exactOptional(),
  })
  .describe("How a target moves from one collector to another.");

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
    podTemplate: freeForm()
      .describe("Merged over the pod template of the collectors: metadata and spec, as a strategic merge patch.")
      .exactOptional(),
    dryRun: z.boolean().describe("Decide and report, but change no collector and move no target.").exactOptional(),
    placement: placement.exactOptional(),
    load: load.exactOptional(),
    handOver: handOver.exactOptional(),
    restart: z
      .enum(["wait", "handOver"])
      .describe(
        "What happens to targets when a collector is restarted for a new image or configuration: they wait for it, or are handed over first. Absent: wait.",
      )
      .exactOptional(),
    targetRefresh: period().describe("How often collectors ask for their targets. Absent: 10s.").exactOptional(),
  })
  .describe("The collectors, and the targets in their configuration.")
  .prefault({});

const status = z
  .object({
    replicas: count().describe("Collectors observed.").exactOptional(),
    selector: z.string().describe("Labels of the collectors' pods, in the form a HorizontalPodAutoscaler reads."),
    targets: count().describe("Targets that are to be scraped. Absent while unknown.").exactOptional(),
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
    printerColumns: [
      { name: "Wanted", type: "integer", jsonPath: ".spec.replicas" },
      { name: "Collectors", type: "integer", jsonPath: ".status.replicas" },
      { name: "Targets", type: "integer", jsonPath: ".status.targets" },
      { name: "Ready", type: "string", jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    ],
    scale: {
      specReplicasPath: ".spec.replicas",
      statusReplicasPath: ".status.replicas",
      labelSelectorPath: ".status.selector",
    },
  },
  { spec, status },
);

export type CollectorLoadBalancer = z.output<typeof KIND.schema>;

export type CollectorLoadBalancerSpec = SpecOf<typeof KIND>;

export type CollectorLoadBalancerStatus = StatusOf<typeof KIND>;

export const parseCollectorLoadBalancer = (input: unknown) => parse(KIND.schema, input);
