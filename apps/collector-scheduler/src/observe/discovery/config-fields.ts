import { prometheusMilliseconds } from "@evenkeel/relabel";
import { z } from "zod";
import { WrittenScalar } from "../../config/written-scalar.ts";
import { lengthOfLabels, LONGEST_LABELS } from "../target-group.ts";
import { allowedPath, type DiscoveryLimits } from "./discovery-limits.ts";

/** A Prometheus duration, as milliseconds. */
export function duration(fallback: number) {
  return z
    .string()
    .transform((text, context) => {
      const time = prometheusMilliseconds(text);
      if (time !== undefined && time > 0) return time;
      context.addIssue({
        code: "custom",
        message: `${JSON.stringify(text)} is not a duration above zero, such as 30s`,
      });
      return z.NEVER;
    })
    .default(fallback);
}

/** A file that discovery may read, as an absolute path. */
export function readableFile(limits: DiscoveryLimits) {
  return z.string().transform((path, context) => {
    const allowed = allowedPath(path, limits);
    if (allowed !== undefined) return allowed;
    const where =
      limits.files === undefined ? "the flag --discovery-files is not set" : `it is not below ${limits.files}`;
    context.addIssue({ code: "custom", message: `${JSON.stringify(path)} cannot be read: ${where}` });
    return z.NEVER;
  });
}

/** Label names are any text that is not empty. A number or a flag in the configuration is its text. */
export const labels = z
  .record(
    z.string().min(1),
    z.union([z.string(), z.number(), z.boolean(), z.instanceof(WrittenScalar)]).transform((value) => String(value)),
  )
  .refine((all) => lengthOfLabels(all) <= LONGEST_LABELS, `labels have at most ${LONGEST_LABELS} characters`);

/** Fields that Prometheus writes into a configuration with their defaults. They have no effect here. */
export const httpDefaults = { follow_redirects: z.boolean().optional(), enable_http2: z.boolean().optional() };
