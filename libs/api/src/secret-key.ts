import { z } from "zod";

/**
 * One value in a Secret. Nothing of it is required, since the originals' CRDs require nothing; a service reports what
 * is missing.
 */
export const secretKey = () =>
  z.object({
    name: z.string().describe("Name of the Secret.").exactOptional(),
    namespace: z.string().describe("Namespace of the Secret. Absent: that of this object.").exactOptional(),
    key: z.string().describe("Key in the Secret's data.").exactOptional(),
  });
