import type { Refusal } from "@evenkeel/forward";
import type { CodedError } from "@evenkeel/runtime";
import { statusRefusal, type StatusDetails } from "./status.ts";

/** Ends a request with a Kubernetes Status. Nothing of the request has been sent to a member. */
export class RequestRefused extends Error {
  readonly refusal: Refusal;
  readonly code: string;

  constructor(status: number, error: CodedError, details: StatusDetails = {}) {
    super(error.message, { cause: error });
    this.name = error.code;
    this.code = error.code;
    this.refusal = statusRefusal(status, error, details);
  }
}
