import type { HoldOutcome, Refusal } from "@evenkeel/forward";
import type { CodedError } from "@evenkeel/runtime";
import { NoDescriptors, NoLongerServed, NoRoom, NotAwake } from "./errors.ts";
import type { GatedService } from "./gated-service.ts";

/** Why a request was not forwarded, as metrics have it. */
export type Rejection = Exclude<HoldOutcome, "released"> | "descriptors";

/** The answer to a request that was not forwarded. `coldStart` are the headers of one that waited. */
export function refusalOf(service: GatedService, why: Rejection, coldStart: readonly string[]): Refusal {
  const { placeholder, retryAfterSeconds, timeout } = service.hold;
  if (placeholder && (why === "overflowCount" || why === "overflowBytes" || why === "descriptors")) {
    const { status, body, contentType } = placeholder;
    return { status, body, headers: ["content-type", contentType, "retry-after", String(retryAfterSeconds)] };
  }
  const error = errorOf(why, service.key, timeout);
  return {
    status: 503,
    code: error.code,
    headers: ["retry-after", String(retryAfterSeconds), ...coldStart],
    body: `${error.code}: ${error.message}\n`,
  };
}

function errorOf(why: Rejection, service: string, timeout: number): CodedError {
  switch (why) {
    case "overflowCount":
    case "overflowBytes":
      return new NoRoom({ service });
    case "deadline":
      return new NotAwake({ service, seconds: timeout / 1000 });
    case "descriptors":
      return new NoDescriptors({});
    // Nobody reads what one gets that is gone.
    case "clientGone":
    case "drained":
      return new NoLongerServed({ service });
  }
}
