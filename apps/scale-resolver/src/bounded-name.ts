import { createHash } from "node:crypto";

/** The longest name of most objects, in characters. */
export const LONGEST_NAME = 253;
/** The longest value of a label. */
export const LONGEST_LABEL = 63;

/** The name as it is, or so much of it as fits before a hash of the whole: two names that were cut stay two. */
export function boundedName(name: string, longest: number): string {
  if (name.length <= longest) return name;
  const hash = createHash("sha256").update(name).digest("hex").slice(0, 10);
  // No dot or hyphen may stand before the hyphen, or the name would be none that Kubernetes takes.
  return `${name.slice(0, longest - hash.length - 1).replace(/[^a-z\d]+$/i, "")}-${hash}`;
}
