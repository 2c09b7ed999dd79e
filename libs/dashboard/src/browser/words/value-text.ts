import { valueWords } from "@evenkeel/runtime/value-words";

/** A number with at most four significant digits after which nothing is lost to the eye; thousands are grouped. */
export function numberText(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  const digits = Math.abs(value) >= 1000 ? { maximumFractionDigits: 0 } : { maximumSignificantDigits: 4 };
  return value.toLocaleString("en", digits);
}

/**
 * A 64-bit number, which is a text in JSON, as a number; null is unknown. Only counts far below where that would lose
 * digits.
 */
export function count(text: string | undefined): number | null {
  return text === undefined ? null : Number(text);
}

/** A part of one as per cent. */
export function shareText(share: number | null | undefined): string {
  if (share === null || share === undefined || !Number.isFinite(share)) return "–";
  return `${(share * 100).toLocaleString("en", { minimumFractionDigits: 1, maximumFractionDigits: 1 })} %`;
}

/** A value of a decision on one line; what is unknown is a dash. */
export function valueText(value: unknown): string {
  if (value === null || value === undefined) return "–";
  return typeof value === "number" ? numberText(value) : valueWords(value);
}
