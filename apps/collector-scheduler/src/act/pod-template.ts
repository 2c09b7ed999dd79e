import { z } from "zod";
import { fieldName } from "../config/fault.ts";

/** As much of a pod template as this service reads. The API server checks the rest. */
const shape = z.looseObject({
  metadata: z.looseObject({ labels: z.record(z.string(), z.string()).optional() }).optional(),
  spec: z
    .looseObject({
      containers: z
        .array(
          z.looseObject({
            name: z.string(),
            ports: z.array(z.looseObject({ containerPort: z.int() })).optional(),
            env: z.array(z.looseObject({ name: z.string() })).optional(),
          }),
        )
        .optional(),
    })
    .optional(),
});

/** Why the template cannot be merged; undefined if it can, or is absent. */
export function podTemplateFault(podTemplate: unknown): string | undefined {
  const parsed = podTemplate === undefined ? undefined : shape.safeParse(podTemplate);
  const issue = parsed?.error?.issues[0];
  return issue && `spec.podTemplate.${fieldName(issue.path)}: ${issue.message}`;
}
