import { z } from "zod";
import { boundedText, int64, timestamp } from "./field.ts";

const TYPE =
  /^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$/;

const REASON = /^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/;

/** One entry of a status's `conditions`: metav1.Condition, with its bounds. */
export const condition = z.object({
  type: boundedText(316)
    .regex(TYPE, { error: "Invalid type: expected a word such as Ready, or example.com/Ready" })
    .describe("What the condition is about, in CamelCase."),
  status: z.enum(["True", "False", "Unknown"]).describe("Whether the condition holds."),
  observedGeneration: int64()
    .min(0)
    .describe(
      "The metadata.generation that this describes. If it is older than that of the object, the condition is out of date.",
    )
    .exactOptional(),
  lastTransitionTime: timestamp().describe("When `status` last changed."),
  reason: boundedText(1024)
    .regex(REASON, { error: "Invalid reason: expected one word such as TargetTracking" })
    .describe("Why, as one CamelCase word of a closed list."),
  message: boundedText(32768).describe("Why, as a sentence. May be empty."),
});

/** The `conditions` of a status: a list that holds each type once. */
export const conditions = () =>
  z
    .array(condition)
    .superRefine((list, context) => {
      const seen = new Set<string>();
      for (const [index, { type }] of list.entries()) {
        if (seen.has(type)) {
          context.addIssue({ code: "custom", path: [index], message: `Duplicate: expected type ${type} at most once` });
        }
        seen.add(type);
      }
    })
    .meta({
      description: "Conditions of this object: Ready and those of its kind.",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["type"],
    });
