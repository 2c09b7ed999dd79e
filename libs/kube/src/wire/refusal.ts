import { CodedError, type ErrorEntry, type ErrorFields } from "@evenkeel/runtime";

/** One reason within a Status; for Invalid it names a field. */
export interface StatusCause {
  /** Such as FieldValueInvalid, FieldManagerConflict or DisruptionBudget. */
  readonly reason: string;
  readonly message: string;
  /** Path of the field, such as `spec.replicas`. */
  readonly field?: string;
}

/** What an API server's refusal says besides its message. */
export interface RefusalDetails {
  /** HTTP status. */
  readonly status: number;
  /** The Status' own word, such as NotFound or Expired; empty when the answer was no Status. */
  readonly reason: string;
  readonly causes: readonly StatusCause[];
  /** Milliseconds after which the server asks to be tried again. */
  readonly retryAfter?: number | undefined;
  /** The whole answer when it was no Status: a service behind the API server's proxy refuses in its own words. */
  readonly text?: string | undefined;
}

/** An answer of the API server that is no success. */
export class Refusal extends CodedError {
  readonly status: number;
  readonly reason: string;
  readonly causes: readonly StatusCause[];
  readonly retryAfter: number | undefined;
  readonly text: string | undefined;

  constructor(entry: ErrorEntry, fields: Readonly<Record<string, string | number>>, details: RefusalDetails) {
    super(entry, fields);
    this.status = details.status;
    this.reason = details.reason;
    this.causes = details.causes;
    this.retryAfter = details.retryAfter;
    this.text = details.text;
  }
}

export interface RefusalClass<Message extends string = string> {
  new (fields: ErrorFields<Message>, details: RefusalDetails): Refusal;
  readonly entry: ErrorEntry<Message>;
}

/** Makes the class of one catalogue entry whose errors carry what the API server answered. */
export function defineRefusal<const Message extends string>(entry: ErrorEntry<Message>): RefusalClass<Message> {
  return class extends Refusal {
    static readonly entry = entry;

    constructor(fields: ErrorFields<Message>, details: RefusalDetails) {
      super(entry, fields, details);
    }
  };
}
