import { z } from "zod";
import { conditions } from "./condition.ts";
import { boundedText, freeForm, int32, timestamp } from "./field.ts";
import { defineKind } from "./kind.ts";
import { parse } from "./parse.ts";

const scaleTargetRef = z.object({
  apiVersion: z.enum(["apps/v1", "argoproj.io/v1alpha1"]).describe("API version of the workload."),
  kind: z
    .enum(["deployments", "rollouts", "Deployment", "StatefulSet", "Rollout"])
    .describe("Kind of the workload. The lower-case plurals are older names of Deployment and Rollout."),
  name: z.string().describe("Name of the workload."),
});

const trigger = z.object({
  type: z.enum(["prometheus"]).describe("What decides that the service is idle."),
  metadata: freeForm()
    .describe("For prometheus: query, serverAddress, threshold (a number as text), uptimeFilter, headers.")
    .exactOptional(),
});

const valueMatch = (maxLength: number) =>
  z.object({
    name: boundedText(256).describe("Name to look up."),
    type: z.enum(["Exact", "RegularExpression"]).describe("How `value` is compared. Absent: Exact.").exactOptional(),
    value: boundedText(maxLength).describe("Value to match."),
  });

const probeResponse = z
  .object({
    path: z
      .object({
        type: z
          .enum(["Exact", "PathPrefix", "RegularExpression"])
          .describe("How `value` is compared. Absent: PathPrefix.")
          .exactOptional(),
        value: boundedText(1024).describe("Path or regular expression.").exactOptional(),
      })
      .describe("The path to match. Absent: every path.")
      .exactOptional(),
    headers: z.array(valueMatch(4096)).max(16).describe("Headers that must all match.").exactOptional(),
    queryParams: z.array(valueMatch(1024)).max(16).describe("Query parameters that must all match.").exactOptional(),
    method: z
      .enum(["GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"])
      .describe("The method to match. Absent: every method.")
      .exactOptional(),
    response: z
      .object({
        status: z.literal([200, 204, 400, 401, 403, 404, 500, 502, 503, 504]).describe("Status code to answer with."),
        body: z.string().describe("Body to answer with."),
      })
      .describe("The answer."),
  })
  .describe("A request that is answered without waking the service.");

const spec = z
  .object({
    scaleTargetRef: scaleTargetRef.describe("The workload that is scaled."),
    service: z.string().describe("The Service whose requests wake it."),
    minTargetReplicas: int32().min(1).describe("Replicas to wake with. Absent: 1.").exactOptional(),
    cooldownPeriod: int32()
      .min(0)
      .max(604800)
      .describe("Seconds without traffic before the workload is scaled to zero. 0 means 900.")
      .default(900),
    triggers: z
      .array(trigger)
      .min(1)
      .describe("What decides that the service is idle; all must say so.")
      .exactOptional(),
    autoscaler: z
      .object({
        type: z.enum(["hpa", "keda"]).describe("Kind of autoscaler."),
        name: z.string().describe("Its name."),
      })
      .describe("The autoscaler of the workload, paused while it is at zero.")
      .exactOptional(),
    enabledPeriod: z
      .object({
        schedule: z.string().describe("When the period begins: cron with five fields, in UTC.").default("0 0 * * *"),
        duration: z.string().describe("How long it lasts, such as 8h.").default("24h"),
      })
      .describe("When the workload may be scaled to zero. Absent: always.")
      .exactOptional(),
    probeResponse: z
      .array(probeResponse)
      .max(32)
      .describe("Requests answered at zero replicas without waking the workload; the first match wins.")
      .exactOptional(),
  })
  .describe("What is scaled to zero, and when.");

const status = z
  .object({
    lastReconciledTime: timestamp().describe("When the service last looked at this object.").exactOptional(),
    lastScaledUpTime: timestamp().describe("When the workload was last woken.").exactOptional(),
    mode: z.string().describe("proxy while requests pass the resolver, serve while they do not.").exactOptional(),
    conditions: conditions().exactOptional(),
  })
  .describe("Where requests go now.");

export const KIND = defineKind(
  {
    group: "elasti.truefoundry.com",
    version: "v1alpha1",
    kind: "ElastiService",
    plural: "elastiservices",
    singular: "elastiservice",
    shortNames: [],
    scope: "Namespaced",
    description: "A workload that is scaled to zero while idle and woken by its requests.",
    printerColumns: [],
  },
  { spec, status },
);

export type ElastiService = z.output<typeof KIND.schema>;

export const parseElastiService = (input: unknown) => parse(KIND.schema, input);

/** `metadata` of a trigger of type prometheus. The CRD leaves it free, as the original's does, so it is read on its own. */
const prometheusTrigger = z.object({
  query: z.string(),
  /** Absent: the service's own setting. */
  serverAddress: z.string().exactOptional(),
  /** Absent means 0, below which no rate falls: the trigger then never calls the service idle. */
  threshold: z
    .union([z.number(), z.string().regex(/^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$/)])
    .default("0")
    .transform(Number)
    .pipe(z.number()),
  uptimeFilter: z.string().default('container="prometheus"'),
  headers: z.record(z.string(), z.string()).exactOptional(),
});

export type PrometheusTrigger = z.output<typeof prometheusTrigger>;

export const parsePrometheusTrigger = (metadata: unknown) => parse(prometheusTrigger, metadata);
