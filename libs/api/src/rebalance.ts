import { z } from "zod";
import { conditions } from "./condition.ts";
import { boundedText, double, duration, int64, integer, timeOfDay } from "./field.ts";
import { defineKind } from "./kind.ts";
import { parse } from "./parse.ts";
import { exactlyOneOf } from "./rule.ts";

const WEEKDAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"] as const;

const secretKey = () =>
  z.object({
    name: z.string().describe("Name of the Secret.").exactOptional(),
    namespace: z.string().describe("Namespace of the Secret. Absent: that of this object.").exactOptional(),
    key: z.string().describe("Key in the Secret's data.").exactOptional(),
  });

const weight = () => int64().min(0).max(1_000_000);

const scheduled = z.object({
  startTime: timeOfDay().describe("First minute of the window, as HH:MM."),
  endTime: timeOfDay().describe("First minute after the window, as HH:MM. Before startTime: on the next day."),
  value: weight().describe("The least weight inside the window."),
  days: z.array(z.enum(WEEKDAYS)).describe("Days on which the window begins. Absent: every day.").exactOptional(),
});

const targettracking = z
  .object({
    targetValue: int64().min(1).describe("What the metric should be kept at or below."),
    baseValue: weight().describe("Weight of the record that the target shares its load with."),
    disableScaleIn: z.boolean().describe("Never lower the weight.").exactOptional(),
    minimum: weight().describe("The least weight. Absent: 0.").exactOptional(),
    maximum: weight().describe("The greatest weight. Absent: what the target takes.").exactOptional(),
    scheduled: z
      .array(scheduled)
      .max(100)
      .describe("Windows of the day with a least weight of their own.")
      .exactOptional(),
    timeZone: boundedText(64).describe("Time zone of the windows, such as Asia/Tokyo. Absent: UTC.").exactOptional(),
    scope: z
      .enum(["total", "base"])
      .describe("What the metric measures: the load of all environments, or that of the base environment alone.")
      .default("total"),
    tolerance: double()
      .min(0)
      .max(1)
      .describe("Part of targetValue by which the base's load may be off before the weight moves; 0.1 is 10 %.")
      .exactOptional(),
    smoothing: duration().describe("Time constant of the metric's moving average. Absent: none.").exactOptional(),
    maxStepUp: weight().min(1).describe("The most that one change raises the weight by.").exactOptional(),
    maxStepDown: weight().min(1).describe("The most that one change lowers the weight by.").exactOptional(),
    cooldownUp: duration().describe("Time from one rise to the next.").exactOptional(),
    cooldownDown: duration().describe("Time from any change to the next fall.").exactOptional(),
    settle: duration()
      .describe(
        "Time in which a change comes to be seen, and no other is made. Absent: the record's TTL if scope is base, else 0.",
      )
      .exactOptional(),
    onNoData: z
      .enum(["hold", "minimum", "value"])
      .describe("Without a metric: keep the weight, go to minimum, or go to noDataValue.")
      .default("hold"),
    noDataValue: weight().describe("The weight without a metric when onNoData is value.").exactOptional(),
  })
  .describe(
    "Weight that grows with the metric's excess over a target: ceil(baseValue × max(0, metric / targetValue − 1)).",
  );

const route53 = z
  .object({
    hostedZoneID: z.string().min(1).describe("Id of the hosted zone, with or without the prefix hostedzone/."),
    region: z.string().describe("AWS region. Absent: us-east-1, which serves Route 53 for all.").exactOptional(),
    endpoint: boundedText(2048).describe("Another address of the Route 53 API, with scheme and host.").exactOptional(),
    resource: z
      .object({
        name: z.string().min(1).describe("Name of the record."),
        type: z.string().min(1).describe("Type of the record, such as A."),
        identifier: z.string().describe("Set identifier of the weighted record.").exactOptional(),
      })
      .describe("The record to weight."),
    auth: z
      .object({
        secretRef: z
          .object({
            accessKeyIDSecretRef: secretKey().describe("Where the access key's id is.").exactOptional(),
            secretAccessKeySecretRef: secretKey().describe("Where the secret access key is.").exactOptional(),
            sessionTokenSecretRef: secretKey().describe("Where the session token is.").exactOptional(),
          })
          .describe("A static access key.")
          .exactOptional(),
        assumeRole: z
          .object({
            roleARN: boundedText(2048).describe("The role to act as."),
            externalID: boundedText(1224).describe("What the role's trust policy asks for.").exactOptional(),
            sessionName: boundedText(64).describe("Name in AWS's audit log. Absent: evenkeel.").exactOptional(),
          })
          .describe("A role that is taken with the credentials above, or those of the environment.")
          .exactOptional(),
      })
      .describe("Credentials. Absent: those of the environment.")
      .exactOptional(),
  })
  .describe("A weighted record in Amazon Route 53.");

const httpRoute = z
  .object({
    name: boundedText(253).min(1).describe("Name of the HTTPRoute, in this object's namespace."),
    rule: integer().min(0).max(15).describe("Which of its rules, counted from 0.").default(0),
    backend: boundedText(253).min(1).describe("Name of the backendRef that carries the weight."),
  })
  .describe("A backend of a Gateway API HTTPRoute.");

const header = z.object({
  name: boundedText(256).min(1).describe("Name of the header."),
  value: boundedText(4096).describe("Its value.").exactOptional(),
  valueSecretRef: secretKey().describe("Where its value is, if it is a secret.").exactOptional(),
});

const prometheus = z
  .object({
    address: z.string().min(1).describe("Base URL of the server, with scheme and host."),
    query: z.string().min(1).describe("The query whose value is the metric."),
    timeout: int64().min(1).max(3600).describe("How long a query may take, in seconds.").default(30),
    reducer: z
      .enum(["max", "min", "avg", "sum"])
      .describe("What becomes of several samples. Absent: more than one is an error.")
      .exactOptional(),
    maxAge: duration().describe("Age from which a sample is stale. Absent: 5m.").exactOptional(),
    auth: z
      .object({
        secretRef: z
          .object({
            userSecretRef: secretKey().describe("Where the user's name is.").exactOptional(),
            passwordSecretRef: secretKey().describe("Where the password is.").exactOptional(),
          })
          .describe("A user and a password.")
          .exactOptional(),
        bearerSecretRef: secretKey().describe("Where the bearer token is.").exactOptional(),
      })
      .describe("Basic authentication or a bearer token.")
      .exactOptional(),
    headers: z.array(header).max(16).describe("Headers to send along.").exactOptional(),
    tls: z
      .object({
        caSecretRef: secretKey()
          .describe("Where the authorities' certificates are. Absent: the system's.")
          .exactOptional(),
        certSecretRef: secretKey().describe("Where this client's certificate is.").exactOptional(),
        keySecretRef: secretKey().describe("Where its private key is.").exactOptional(),
        serverName: boundedText(253).describe("The name to expect in the server's certificate.").exactOptional(),
        insecureSkipVerify: z.boolean().describe("Take any certificate.").exactOptional(),
      })
      .describe("How an https address is checked.")
      .exactOptional(),
  })
  .describe("A query to a Prometheus server.");

const target = () => exactlyOneOf({ route53, httpRoute });
const metrics = () => exactlyOneOf({ prometheus });

const spec = z
  .object({
    interval: z.string().describe("Time between two adjustments, such as 1m. Absent: 1m.").exactOptional(),
    dryRun: z.boolean().describe("Compute the weight and leave the target alone.").default(false),
    suspend: z.boolean().describe("Do nothing until it is false again.").exactOptional(),
    policy: exactlyOneOf({ targettracking }).describe("How the weight follows the metric."),
    target: target().describe("What the weight is written to.").exactOptional(),
    targets: z
      .array(target())
      .min(1)
      .max(16)
      .describe("Several places that the same weight is written to, instead of `target`.")
      .exactOptional(),
    metrics: metrics().describe("What the weight follows.").exactOptional(),
    metricSources: z
      .array(metrics())
      .min(1)
      .max(16)
      .describe("Several metrics that the weight follows, instead of `metrics`.")
      .exactOptional(),
    combine: z.enum(["max", "min", "avg"]).describe("What becomes of the values of `metricSources`.").default("max"),
    onExternalChange: z
      .enum(["enforce", "yield"])
      .describe("When someone else sets the weight: set it back, or leave it until spec changes.")
      .default("enforce"),
    onDelete: z
      .enum(["keep", "revert"])
      .describe("When this object is deleted: keep the weight, or set it back to what it was at first.")
      .default("keep"),
  })
  .describe("What to weight, by what, and how.");

const status = z
  .object({
    condition: z.string().describe("Healty [sic], Unhealthy or Error."),
    actualValue: int64().describe("Weight read from the target.").exactOptional(),
    desiredValue: int64().describe("Weight last computed.").exactOptional(),
    lastUpdateAt: z.string().describe("When this status was written, in RFC 3339.").exactOptional(),
    initialWeights: z
      .array(
        z.object({
          target: z.string().describe("The target, as messages name it."),
          weight: int64().describe("What it was before the first change."),
        }),
      )
      .describe("What the targets were at first; onDelete: revert goes back to it.")
      .exactOptional(),
    conditions: conditions().exactOptional(),
  })
  .describe("What the last adjustment saw and did.");

/** The words `status.condition` has for "as desired", "not as desired" and "cannot tell", the first as the original spells it. */
export const REBALANCE_CONDITIONS = ["Healty", "Unhealthy", "Error"] as const;

export const KIND = defineKind(
  {
    group: "rebalancer.ch1aki.github.io",
    version: "v1",
    kind: "Rebalance",
    plural: "rebalances",
    singular: "rebalance",
    shortNames: [],
    scope: "Namespaced",
    description: "A weight that follows a metric.",
    printerColumns: [
      { name: "Last Update", type: "date", jsonPath: ".status.lastUpdateAt" },
      { name: "Condition", type: "string", jsonPath: ".status.condition" },
      { name: "Dry Run", type: "boolean", jsonPath: ".spec.dryRun", priority: 10 },
      { name: "Desired", type: "integer", jsonPath: ".status.desiredValue", priority: 10 },
      { name: "Actual", type: "integer", jsonPath: ".status.actualValue", priority: 10 },
    ],
  },
  { spec, status },
);

export type Rebalance = z.output<typeof KIND.schema>;

export const parseRebalance = (input: unknown) => parse(KIND.schema, input);
