/** Characters at most of the labels that rules set for one target, and of a text that a rule makes of them. */
export const LONGEST_LABELS = 262_144;

/** Rules made labels longer than {@link LONGEST_LABELS}: a few that double a label would fill the memory. */
export class LabelsTooLong extends Error {
  override readonly name = "LabelsTooLong";

  constructor() {
    super(`Rules make labels of more than ${LONGEST_LABELS} characters`);
  }
}

/** Throws `LabelsTooLong` for a text that is too long. */
export function checkLength(text: string): void {
  if (text.length > LONGEST_LABELS) throw new LabelsTooLong();
}
