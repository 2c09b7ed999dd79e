import { CodedError, type ErrorEntry, type ErrorFields } from "@evenkeel/runtime";

/** One cause in a Status; for Invalid it names a field. */
export interface StatusCause {
  /** Such as FieldValueInvalid, FieldManagerConflict or DisruptionBudget. */
  readonly reason: string;
  readonly message: string;
  /** Path of the field, such as `spec.replicas`. */
  readonly field?: string;
}

/** What a refusal of the API server contains in addition to its message. */
export interface RefusalDetails {
  /** HTTP status. */
  readonly status: number;
  /** The reason of the Status, such as NotFound or Expired; empty if the response was not a Status. */
  readonly reason: string;
  readonly causes: readonly StatusCause[];
  /** Milliseconds after which the server asks for a retry. */
  readonly retryAfter?: number | undefined;
  /** The whole response if it was not a Status, for example from a service behind the API server's proxy. */
  readonly text?: string | undefined;
}

/** A response of the API server that is not a success. */
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

/** Creates the class of one catalogue entry whose errors have the details of the API server's response. */
export function defineRefusal<const Message extends string>(entry: ErrorEntry<Message>): RefusalClass<Message> {
  return class extends Refusal {
    static readonly entry = entry;

    constructor(fields: ErrorFields<Message>, details: RefusalDetails) {
      super(entry, fields, details);
    }
  };
}
