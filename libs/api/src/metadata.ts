import { z } from "zod";
import { integer, stringMap, timestamp } from "./field.ts";

/**
 * The parts of ObjectMeta the services read; the rest is kept as it came. The API server itself validates all of it.
 */
export const objectMeta = z.looseObject({
  name: z.string(),
  namespace: z.string().exactOptional(),
  uid: z.string().exactOptional(),
  resourceVersion: z.string().exactOptional(),
  generation: integer().exactOptional(),
  creationTimestamp: timestamp().nullable().exactOptional(),
  deletionTimestamp: timestamp().exactOptional(),
  labels: stringMap().exactOptional(),
  annotations: stringMap().exactOptional(),
  finalizers: z.array(z.string()).exactOptional(),
});
