import { z } from "zod";
import { address, boundedText, integer } from "./field.ts";
import { exactlyOneOf, withRules } from "./rule.ts";
import { secretKey } from "./secret-key.ts";

const record = withRules(
  z
    .object({
      name: z.string().min(1).describe("Name of the record."),
      type: z.string().min(1).describe("Type of the record, such as A."),
      identifier: boundedText(128)
        .describe("Set identifier of the weighted record. Must be set: a record without one has no weight.")
        .exactOptional(),
    })
    .describe("The record to weight."),
  {
    cel: "has(self.identifier) && size(self.identifier) > 0",
    holds: ({ identifier }) => identifier !== undefined && identifier !== "",
    message: "expected the set identifier of a weighted record",
    field: "identifier",
  },
);

const route53 = z
  .object({
    hostedZoneID: z.string().min(1).describe("Id of the hosted zone, with or without the prefix hostedzone/."),
    region: z.string().describe("AWS region. Absent: us-east-1, which serves Route 53 for all.").exactOptional(),
    endpoint: address()
      .describe("Address of the Route 53 API, with scheme and host; needs `auth.secretRef`. Absent: that of AWS.")
      .exactOptional(),
    resource: record,
    auth: z
      .object({
        secretRef: z
          .object({
            accessKeyIDSecretRef: secretKey().describe("Secret key with the access key ID.").exactOptional(),
            secretAccessKeySecretRef: secretKey().describe("Secret key with the secret access key.").exactOptional(),
            sessionTokenSecretRef: secretKey().describe("Secret key with the session token.").exactOptional(),
          })
          .describe("A static access key.")
          .exactOptional(),
        assumeRole: z
          .object({
            roleARN: boundedText(2048).min(1).describe("The role to assume."),
            externalID: boundedText(1224)
              .describe("External ID that the trust policy of the role requires.")
              .exactOptional(),
            sessionName: boundedText(64).describe("Name in AWS's audit log. Absent: evenkeel.").exactOptional(),
          })
          .describe("A role to assume with the credentials above, or with those of the service where it allows that.")
          .exactOptional(),
      })
      .describe("Credentials. Absent: the service's own, if --allow-ambient-credentials lists this namespace.")
      .exactOptional(),
  })
  .describe("A weighted record in Amazon Route 53.");

const httpRoute = z
  .object({
    name: boundedText(253).min(1).describe("Name of the HTTPRoute, in this object's namespace."),
    rule: integer().min(0).max(15).describe("Index of the rule, starting at 0.").default(0),
    backend: boundedText(253).min(1).describe("Name of the backendRef that carries the weight."),
  })
  .describe("A backend of a Gateway API HTTPRoute.");

/** A place that a weight can be written to. */
export const weightTarget = () => exactlyOneOf({ route53, httpRoute });
