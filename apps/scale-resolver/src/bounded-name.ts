import { createHash } from "node:crypto";

/** Maximum length of the name of most objects, in characters. */
export const LONGEST_NAME = 253;
/** Maximum length of a label value, in characters. */
export const LONGEST_LABEL = 63;

/** Returns `name` if it fits, else a prefix of it and a hash of the whole, so that two long names stay different. */
export function boundedName(name: string, longest: number): string {
  if (name.length <= longest) return name;
  const hash = createHash("sha256").update(name).digest("hex").slice(0, 10);
  // Kubernetes refuses a name with a dot or a hyphen before the hyphen of the hash.
  return `${name.slice(0, longest - hash.length - 1).replace(/[^a-z\d]+$/i, "")}-${hash}`;
}
