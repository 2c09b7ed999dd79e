import { z } from "zod";
import { conditions } from "./condition.ts";
import { boundedText, freeForm, int32, integer, period, timestamp, timeZone } from "./field.ts";
import { defineKind, type StatusOf } from "./kind.ts";
import { labelSelector } from "./label-selector.ts";
import { parse } from "./parse.ts";
import { withRules } from "./rule.ts";

/** The seconds that a `cooldownPeriod` of 0 means. */
export const DEFAULT_COOLDOWN_SECONDS = 900;

const scaleTargetRef = z.object({
  apiVersion: boundedText(253).min(1).describe("API version of the workload, such as apps/v1."),
  kind: boundedText(63)
    .min(1)
    .describe(
      "Kind of the workload: Deployment, StatefulSet, Rollout or any other kind with the subresource scale. The plurals deployments and rollouts are accepted as older names.",
    ),
  name: z.string().describe("Name of the workload."),
});

/** A number as text. */
const NUMBER = /^[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][-+]?[0-9]+)?$/;

/** Free but for the threshold: a service whose threshold is no number would never sleep. */
const triggerMetadata = freeForm()
  .refine((value) => isThreshold((value as { readonly threshold?: unknown } | null)?.threshold), {
    error: "Invalid threshold: expected a number, or a number as text",
    path: ["threshold"],
  })
  .meta({
    "x-kubernetes-preserve-unknown-fields": true,
    properties: {
      threshold: {
        description: "Idle while the value of the query is below it: a number, or a number as text.",
        ...{ pattern: NUMBER.source, "x-kubernetes-preserve-unknown-fields": true },
      },
    },
  });

/** What is no text passes the API server's pattern. */
function isThreshold(threshold: unknown): boolean {
  return typeof threshold !== "string" || NUMBER.test(threshold);
}

const trigger = z.object({
  type: z.enum(["prometheus"]).describe("Kind of trigger."),
  metadata: triggerMetadata
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

/** A port of a Service: a number or a name. */
const servicePort = z
  .unknown()
  .refine(isServicePort, { error: "Invalid port: expected a number from 1 to 65535, or the name of a port" })
  .meta({ "x-kubernetes-int-or-string": true, minimum: 1, maximum: 65_535, minLength: 1, maxLength: 63 });

function isServicePort(port: unknown): port is string | number {
  if (typeof port === "string") return port !== "" && Array.from(port).length <= 63;
  return typeof port === "number" && Number.isInteger(port) && port >= 1 && port <= 65_535;
}

const hold = z.object({
  protocol: z
    .enum(["auto", "http", "tcp"])
    .describe(
      "What clients speak. auto: the resolver detects HTTP by the first bytes, and holds and forwards any other connection, such as TLS, unchanged. http: nothing else is accepted. tcp: every connection is held and forwarded unchanged, also of protocols in which the server speaks first. Absent: auto.",
    )
    .exactOptional(),
  timeout: period().describe("How long a request may wait for a pod. Absent: 10m.").exactOptional(),
  maxPending: int32().min(1).max(100_000).describe("Requests that may wait at once. Absent: 10000.").exactOptional(),
  maxPendingBytes: integer()
    .min(1024)
    .describe("Bytes of heads and buffered bodies that may wait at once. Absent: 256 MiB.")
    .exactOptional(),
  concurrencyPerPod: int32()
    .min(1)
    .max(100_000)
    .describe(
      "Concurrent requests that a pod gets from the queue. Absent: starts at 32 and increases while requests are slow and others wait.",
    )
    .exactOptional(),
  overflow: z
    .enum(["Reject", "Placeholder"])
    .describe("Response when the queue is full: 503 with Retry-After, or `placeholder`. Absent: Reject.")
    .exactOptional(),
  retryAfterSeconds: int32()
    .min(0)
    .max(86_400)
    .describe("Retry-After of a rejected request. Absent: 5.")
    .exactOptional(),
  placeholder: z
    .object({
      status: int32().min(200).max(599).describe("Status code. Absent: 503.").exactOptional(),
      body: boundedText(32_768).describe("Body to answer with."),
      contentType: boundedText(256)
        .describe("Content-Type of the body. Absent: text/plain; charset=utf-8.")
        .exactOptional(),
    })
    .describe("The response to send instead of a rejection.")
    .exactOptional(),
});

const spec = withRules(
  z.object({
    scaleTargetRef: scaleTargetRef.describe("The workload that is scaled.").exactOptional(),
    service: boundedText(253)
      .describe(
        "Requests to this Service wake the workload. `*`: every Service of the namespace, each with its own workload.",
      )
      .exactOptional(),
    selector: labelSelector()
      .describe(
        "Selects Services of the namespace by their labels, instead of `service` and `scaleTargetRef`. Each gets an ElastiService of its own, made from this one.",
      )
      .exactOptional(),
    minTargetReplicas: int32().min(1).describe("Replicas after a wake. Absent: 1.").exactOptional(),
    cooldownPeriod: int32()
      .min(0)
      .max(604800)
      .describe(
        "Seconds for which every trigger must have reported idle before the workload is scaled to zero. They start at the last wake, or at the creation of this object. 0 means 900.",
      )
      .default(DEFAULT_COOLDOWN_SECONDS),
    triggers: z.array(trigger).min(1).describe("The service is idle if all of these report idle.").exactOptional(),
    autoscaler: z
      .object({
        type: z.enum(["hpa", "keda"]).describe("Kind of autoscaler."),
        name: z.string().describe("Its name."),
        create: z
          .boolean()
          .describe(
            "For keda: create the ScaledObject, with this resolver as its scaler, and keep it up to date. Absent: false.",
          )
          .exactOptional(),
        maxReplicas: int32().min(1).describe("For `create`: maximum number of replicas. Absent: 100.").exactOptional(),
        targetConcurrency: int32()
          .min(1)
          .describe("For `create`: concurrent requests per pod. Absent: 100.")
          .exactOptional(),
      })
      .describe("The autoscaler of the workload, paused while it is at zero.")
      .exactOptional(),
    enabledPeriod: z
      .object({
        schedule: z.string().describe("When the period begins: cron with five fields.").default("0 0 * * *"),
        duration: z.string().describe("How long it lasts, such as 8h.").default("24h"),
        timeZone: timeZone().describe("The time zone of `schedule`, such as Asia/Tokyo. Absent: UTC.").exactOptional(),
      })
      .describe("When the workload may be scaled to zero. When it ends, a workload at zero is woken. Absent: always.")
      .exactOptional(),
    probeResponse: z
      .array(probeResponse)
      .max(32)
      .describe("Requests answered at zero replicas without waking the workload; the first match wins.")
      .exactOptional(),
    wakePorts: z
      .array(servicePort)
      .min(1)
      .max(64)
      .describe(
        "Ports of the Service, by number or name, at which requests wake the workload. At its other ports, requests are refused with 503 while no pod serves, and never keep the workload awake. Absent: all ports.",
      )
      .exactOptional(),
    hold: hold.describe("How requests wait while the workload wakes.").exactOptional(),
    quietPeriod: int32()
      .min(1)
      .max(86_400)
      .describe("Seconds without a request through the resolver, before the workload is scaled to zero. Absent: 15.")
      .exactOptional(),
    dial: z
      .enum(["pod", "service"])
      .describe(
        "Where held requests go: directly to a pod, or through the Service, for a mesh that requires it. Absent: pod.",
      )
      .exactOptional(),
    switch: z
      .object({
        type: z
          .enum(["endpointSlice", "virtualService", "httpRoute"])
          .describe(
            "How requests are redirected to the resolver: by endpoints of the Service, or by a route of a mesh or gateway.",
          ),
        name: boundedText(253).min(1).describe("For virtualService and httpRoute: the route's name.").exactOptional(),
      })
      .describe("How requests are redirected to the resolver. Absent: endpointSlice.")
      .exactOptional(),
    dryRun: z
      .boolean()
      .describe("Report what would be done. Requests to the Service are not redirected.")
      .exactOptional(),
  }),
  {
    cel: "has(self.selector) || has(self.service)",
    holds: ({ selector, service }) => selector !== undefined || service !== undefined,
    message: "must be set unless selector is",
    field: "service",
  },
  {
    cel: "has(self.selector) || !has(self.service) || self.service == '*' || has(self.scaleTargetRef)",
    holds: ({ selector, service, scaleTargetRef: target }) =>
      selector !== undefined || service === undefined || service === "*" || target !== undefined,
    message: "must be set if spec.service names a Service",
    field: "scaleTargetRef",
  },
  {
    cel: "!has(self.selector) || (!has(self.service) && !has(self.scaleTargetRef))",
    holds: ({ selector, service, scaleTargetRef: target }) =>
      selector === undefined || (service === undefined && target === undefined),
    message: "selector replaces service and scaleTargetRef; expected one or the other",
  },
  {
    cel: "!has(self.switch) || self.switch.type == 'endpointSlice' || has(self.switch.name)",
    holds: ({ switch: { type, name } = { type: "endpointSlice" } }) => type === "endpointSlice" || name !== undefined,
    message: "expected the name of the route to switch",
    field: "switch",
  },
  {
    cel: "!has(self.hold) || !has(self.hold.overflow) || self.hold.overflow != 'Placeholder' || has(self.hold.placeholder)",
    holds: ({ hold: { overflow, placeholder } = {} }) => overflow !== "Placeholder" || placeholder !== undefined,
    message: "expected a placeholder, since overflow is Placeholder",
    field: "hold",
  },
).describe("The workload to scale to zero, and when.");

const status = z
  .object({
    observedGeneration: integer().describe("The metadata.generation that this status describes.").exactOptional(),
    state: z.enum(["Serve", "Guard", "Zero", "Wake"]).describe("State of the service.").exactOptional(),
    since: timestamp().describe("When `state` last changed.").exactOptional(),
    scaleTargetRef: z
      .object({
        apiVersion: boundedText(253).describe("API version of the workload."),
        kind: boundedText(63).describe("Kind of the workload."),
        name: z.string().describe("Name of the workload."),
      })
      .describe("The workload that is managed, or was managed and is still to be released.")
      .exactOptional(),
    replicas: int32().describe("Replicas in the spec of the workload when it was last read.").exactOptional(),
    pausedScaledObject: boundedText(253)
      .describe(
        "The ScaledObject of KEDA that is paused while the workload sleeps; empty if there is none. Absent while the workload is awake.",
      )
      .exactOptional(),
    scaledObject: boundedText(253)
      .describe(
        "The ScaledObject of KEDA that `spec.autoscaler` names, or named before and that may not scale to zero again yet.",
      )
      .exactOptional(),
    service: boundedText(253).describe("The Service that `ports` belong to.").exactOptional(),
    ports: z
      .array(
        z.object({
          name: boundedText(63).describe("Name of the Service's port; empty if it has none."),
          port: int32().describe("The resolver's port for it."),
        }),
      )
      .max(64)
      .describe("The ports on which the resolver accepts requests to this Service.")
      .exactOptional(),
    route: z
      .object({
        type: z.enum(["virtualService", "httpRoute"]).describe("Kind of the route."),
        name: boundedText(253).describe("Its name."),
      })
      .describe("The route that redirects to the resolver now.")
      .exactOptional(),
    selected: int32().describe("Number of Services that `selector` matches.").exactOptional(),
    lastWakeMilliseconds: int32()
      .describe("How long the last wake took, from the first held request to the first ready pod.")
      .exactOptional(),
    lastReconciledTime: timestamp().describe("When this object was last reconciled.").exactOptional(),
    lastScaledUpTime: timestamp()
      .describe("When the workload was last woken, or a trigger last reported traffic.")
      .exactOptional(),
    mode: z.string().describe("proxy while requests pass through the resolver, otherwise serve.").exactOptional(),
    conditions: conditions().exactOptional(),
  })
  .describe("State of the service and where its requests go.");

export const KIND = defineKind(
  {
    service: "scale-resolver",
    group: "elasti.truefoundry.com",
    version: "v1alpha1",
    kind: "ElastiService",
    plural: "elastiservices",
    singular: "elastiservice",
    shortNames: [],
    scope: "Namespaced",
    description: "A workload that is scaled to zero while idle and woken by its requests.",
    printerColumns: [
      { name: "Service", type: "string", jsonPath: ".spec.service" },
      { name: "State", type: "string", jsonPath: ".status.state" },
      { name: "Since", type: "date", jsonPath: ".status.since" },
      { name: "Ready", type: "string", jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
      { name: "Reason", type: "string", jsonPath: '.status.conditions[?(@.type=="Ready")].reason', priority: 1 },
      { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
    ],
  },
  { spec, status },
);

export type ElastiService = z.output<typeof KIND.schema>;

export type ElastiServiceStatus = StatusOf<typeof KIND>;

export const parseElastiService = (input: unknown) => parse(KIND.schema, input);

/**
 * `metadata` of a trigger of type prometheus. The CRD leaves all but the threshold free, as the original's does, so it
 * is read on its own.
 */
const prometheusTrigger = z.object({
  query: z.string(),
  /** Absent: the service's own setting. */
  serverAddress: z.string().exactOptional(),
  /** Absent means 0, below which no rate falls: the trigger then never calls the service idle. */
  threshold: z
    .union([z.number(), z.string().regex(NUMBER)])
    .default("0")
    .transform(Number)
    .pipe(z.number()),
  uptimeFilter: z.string().default('container="prometheus"'),
  headers: z.record(z.string(), z.string()).exactOptional(),
});

export type PrometheusTrigger = z.output<typeof prometheusTrigger>;

export const parsePrometheusTrigger = (metadata: unknown) => parse(prometheusTrigger, metadata);
