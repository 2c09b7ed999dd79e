import { z } from "zod";
import { stringMap } from "./field.ts";

const requirement = z.object({
  key: z.string().describe("The label's key."),
  operator: z
    .string()
    .describe("In, NotIn, Exists or DoesNotExist. Others are accepted here and reported by the service."),
  values: z.array(z.string()).describe("The values of In and NotIn.").exactOptional(),
});

/** The two fields by which labels are selected. Both must match; neither set matches everything. */
export const selectorFields = () => ({
  matchLabels: stringMap().describe("Labels that must have exactly these values.").exactOptional(),
  matchExpressions: z.array(requirement).describe("Requirements that must all hold.").exactOptional(),
});

export const labelSelector = () => z.object(selectorFields()).meta({ "x-kubernetes-map-type": "atomic" });
