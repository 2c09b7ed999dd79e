/**
 * A count that a spec gives as a number or as a percentage of `total`; `round` decides about fractions. Undefined if it
 * is neither: unknown is not zero.
 */
export function countOf(value: unknown, total: number, round: "up" | "down"): number | undefined {
  if (typeof value === "number") return value;
  const percent = typeof value === "string" ? /^(\d+)%$/.exec(value)?.[1] : undefined;
  if (percent === undefined) return undefined;
  const exact = (Number(percent) * total) / 100;
  return round === "up" ? Math.ceil(exact) : Math.floor(exact);
}
