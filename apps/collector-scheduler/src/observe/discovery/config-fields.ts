import { z } from "zod";

/** Label names are any text that is not empty; whether the job's naming scheme allows them is its own question. */
export const labels = z.record(z.string().min(1), z.string());

/** Fields that Prometheus writes into a configuration with their defaults. They have no effect here. */
export const httpDefaults = { follow_redirects: z.boolean().optional(), enable_http2: z.boolean().optional() };
