import { z } from "zod";
import { address, boundedText, int64, period } from "./field.ts";
import { exactlyOneOf, withRules } from "./rule.ts";
import { secretKey } from "./secret-key.ts";

/** Seconds that a timer of the service can count, some 24 days: the original takes as many and more. */
const LONGEST_TIMEOUT = 2_147_483;

const header = withRules(
  z.object({
    name: boundedText(256).min(1).describe("Name of the header."),
    value: boundedText(4096).describe("Its value.").exactOptional(),
    valueSecretRef: secretKey().describe("Where its value is, if it is a secret.").exactOptional(),
  }),
  {
    cel: "has(self.value) != has(self.valueSecretRef)",
    holds: ({ value, valueSecretRef }) => (value === undefined) !== (valueSecretRef === undefined),
    message: "exactly one of value, valueSecretRef must be set",
    field: "value",
  },
);

const auth = withRules(
  z
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
    .describe("Basic authentication or a bearer token."),
  {
    cel: "!has(self.secretRef) || !has(self.bearerSecretRef)",
    holds: ({ secretRef, bearerSecretRef }) => secretRef === undefined || bearerSecretRef === undefined,
    message: "expected either secretRef or bearerSecretRef, not both",
    field: "bearerSecretRef",
  },
);

const tls = withRules(
  z
    .object({
      caSecretRef: secretKey()
        .describe("Where the authorities' certificates are. Absent: the system's.")
        .exactOptional(),
      certSecretRef: secretKey().describe("Where this client's certificate is.").exactOptional(),
      keySecretRef: secretKey().describe("Where its private key is.").exactOptional(),
      serverName: boundedText(253).describe("The name to expect in the server's certificate.").exactOptional(),
      insecureSkipVerify: z.boolean().describe("Take any certificate.").exactOptional(),
    })
    .describe("How an https address is checked."),
  {
    cel: "has(self.certSecretRef) == has(self.keySecretRef)",
    holds: ({ certSecretRef, keySecretRef }) => (certSecretRef === undefined) === (keySecretRef === undefined),
    message: "expected certSecretRef and keySecretRef together, or neither",
    field: "keySecretRef",
  },
);

const prometheus = z
  .object({
    address: address().describe("Base URL of the server, with scheme and host."),
    query: z.string().min(1).describe("The query; its value is the metric."),
    timeout: int64().min(1).max(LONGEST_TIMEOUT).describe("How long a query may take, in seconds.").default(30),
    reducer: z
      .enum(["max", "min", "avg", "sum"])
      .describe("How several samples are combined. Absent: more than one is an error.")
      .exactOptional(),
    maxAge: period().describe("Age from which a sample is stale. Absent: 5m.").exactOptional(),
    auth: auth.exactOptional(),
    headers: z.array(header).max(16).describe("Headers to send along.").exactOptional(),
    tls: tls.exactOptional(),
  })
  .describe("A query to a Prometheus server.");

/** Something that knows a metric. */
export const metricSource = () => exactlyOneOf({ prometheus });
