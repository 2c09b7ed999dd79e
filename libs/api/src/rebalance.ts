import { z } from "zod";
import { conditions } from "./condition.ts";
import { int64 } from "./field.ts";
import { defineKind } from "./kind.ts";
import { parse } from "./parse.ts";
import { exactlyOneOf } from "./rule.ts";

const secretKey = () =>
  z.object({
    name: z.string().describe("Name of the Secret.").exactOptional(),
    namespace: z.string().describe("Namespace of the Secret. Absent: that of this object.").exactOptional(),
    key: z.string().describe("Key in the Secret's data.").exactOptional(),
  });

const scheduled = z.object({
  startTime: z.string().describe("First minute of the window, as HH:MM."),
  endTime: z.string().describe("First minute after the window, as HH:MM."),
  value: int64().describe("The least weight inside the window."),
});

const targettracking = z
  .object({
    targetValue: int64().describe("What the metric should be kept at or below."),
    baseValue: int64().describe("Weight of the record that the target shares its load with."),
    disableScaleIn: z.boolean().describe("Never lower the weight.").exactOptional(),
    minimum: int64().describe("The least weight. Absent: 0.").exactOptional(),
    scheduled: z.array(scheduled).describe("Windows of the day with a least weight of their own.").exactOptional(),
  })
  .describe(
    "Weight that grows with the metric's excess over a target: ceil(baseValue × max(0, metric / targetValue − 1)).",
  );

const route53 = z
  .object({
    hostedZoneID: z.string().describe("Id of the hosted zone, with or without the prefix hostedzone/."),
    region: z.string().describe("AWS region.").exactOptional(),
    resource: z
      .object({
        name: z.string().describe("Name of the record."),
        type: z.string().describe("Type of the record, such as A."),
        identifier: z.string().describe("Set identifier of the weighted record.").exactOptional(),
      })
      .describe("The record to weight."),
    auth: z
      .object({
        secretRef: z
          .object({
            accessKeyIDSecretRef: secretKey().describe("Where the access key's id is.").exactOptional(),
            secretAccessKeySecretRef: secretKey().describe("Where the secret access key is.").exactOptional(),
          })
          .describe("A static access key.")
          .exactOptional(),
      })
      .describe("Credentials. Absent: those of the environment.")
      .exactOptional(),
  })
  .describe("A weighted record in Amazon Route 53.");

const prometheus = z
  .object({
    address: z.string().describe("Base URL of the server, with scheme and host."),
    query: z.string().describe("The query whose value is the metric."),
    timeout: int64().describe("How long a query may take, in seconds.").exactOptional(),
    auth: z
      .object({
        secretRef: z
          .object({
            userSecretRef: secretKey().describe("Where the user's name is.").exactOptional(),
            passwordSecretRef: secretKey().describe("Where the password is.").exactOptional(),
          })
          .describe("A user and a password.")
          .exactOptional(),
      })
      .describe("Basic authentication.")
      .exactOptional(),
  })
  .describe("A query to a Prometheus server.");

const spec = z
  .object({
    interval: z.string().describe("Time between two adjustments, such as 1m.").exactOptional(),
    dryRun: z.boolean().describe("Compute the weight and leave the target alone.").default(false),
    policy: exactlyOneOf({ targettracking }).describe("How the weight follows the metric."),
    target: exactlyOneOf({ route53 }).describe("What the weight is written to."),
    metrics: exactlyOneOf({ prometheus }).describe("What the weight follows."),
  })
  .describe("What to weight, by what, and how.");

const status = z
  .object({
    condition: z.string().describe("Healty [sic], Unhealthy or Error."),
    actualValue: int64().describe("Weight read from the target.").exactOptional(),
    desiredValue: int64().describe("Weight last computed.").exactOptional(),
    lastUpdateAt: z.string().describe("When this status was written, in RFC 3339.").exactOptional(),
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
