/** Uniform in [0, 1). */
export type Random = () => number;

/** What Kubernetes makes names of: no vowels, so that no words come about. */
const LETTERS = "bcdfghjklmnpqrstvwxz2456789";

export function makeSuffix(random: Random): string {
  return Array.from({ length: 5 }, () => LETTERS[Math.floor(random() * LETTERS.length)]).join("");
}

/** A version 4 UUID, as random as its source. */
export function makeUid(random: Random): string {
  const hex = Array.from({ length: 32 }, () => Math.floor(random() * 16).toString(16)).join("");
  const variant = "89ab"[Math.floor(random() * 4)] ?? "8";
  return [hex.slice(0, 8), hex.slice(8, 12), `4${hex.slice(13, 16)}`, variant + hex.slice(17, 20), hex.slice(20)].join(
    "-",
  );
}

/** A moment as metadata carries it: RFC 3339, whole seconds. */
export function timestamp(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(/\.\d{3}Z$/, "Z");
}
