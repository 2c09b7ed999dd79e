/** One line of the catalogue. `message` holds `{fields}` that the thrower fills in. */
interface Entry {
  readonly code: `EK_SCORING_${string}`;
  readonly recovery: "terminal";
  readonly message: string;
  /** What the reader can do about it; shown in the reference, where each code has an anchor. */
  readonly remedy: string;
}

type Fields = Readonly<Record<string, string>>;

/**
 * The base of everything this library throws. Nothing has been computed when it is thrown, and the same input fails
 * again.
 */
export class ScoringError extends RangeError {
  readonly code: string;
  readonly recovery: "terminal";

  constructor(entry: Entry, fields: Fields) {
    super(entry.message.replace(/\{(\w+)\}/g, (_whole, name: string) => String(fields[name])));
    this.code = entry.code;
    this.recovery = entry.recovery;
    this.name = entry.code;
  }
}

function defineError(entry: Entry) {
  return class extends ScoringError {
    static readonly entry = entry;

    constructor(fields: Fields) {
      super(entry, fields);
    }
  };
}

export const BadNumber = defineError({
  code: "EK_SCORING_BAD_NUMBER",
  recovery: "terminal",
  message: "{what} must be {rule}, not {value}",
  remedy: "Correct the value where it is set. A value that is not known is left out, never sent as NaN or zero.",
});

export const DuplicateName = defineError({
  code: "EK_SCORING_DUPLICATE_NAME",
  recovery: "terminal",
  message: "{what} is listed twice",
  remedy: "List each name once.",
});

export const WrongOrder = defineError({
  code: "EK_SCORING_WRONG_ORDER",
  recovery: "terminal",
  message: "{lower} must not exceed {upper}",
  remedy: "Lower the first or raise the second.",
});

export const MinimumsExceedTotal = defineError({
  code: "EK_SCORING_MINIMUMS_EXCEED_TOTAL",
  recovery: "terminal",
  message: "the minimums add up to more than the total of {total}; share {name} asks for {minimum}",
  remedy: "Lower a minimum or raise the total. The message names the share with the greatest minimum.",
});
