import type { HoldOutcome, Refusal } from "@evenkeel/forward";
import type { CodedError } from "@evenkeel/runtime";
import { NoDescriptors, NoLongerServed, NoRoom, NotAwake } from "./errors.ts";
import type { GatedService } from "./gated-service.ts";

/** Why a request was not forwarded, as metrics have it. */
export type Rejection = Exclude<HoldOutcome, "released"> | "descriptors";

/** What a client is told. */
export interface Words {
  readonly code: string;
  readonly body: string;
}

/** The answer to a request that was not forwarded. `coldStart` are the headers of one that waited. */
export function refusalOf(service: GatedService, why: Rejection, coldStart: readonly string[]): Refusal {
  const { placeholder, retryAfterSeconds } = service.hold;
  if (placeholder && (why === "overflowCount" || why === "overflowBytes" || why === "descriptors")) {
    const { status, body, contentType } = placeholder;
    return { status, body, headers: ["content-type", contentType, "retry-after", String(retryAfterSeconds)] };
  }
  const { code, body } = wordsOf(why, service);
  return { status: 503, code, headers: ["retry-after", String(retryAfterSeconds), ...coldStart], body };
}

/** An error costs its stack, and a flood would pay it for each request: a Service's words for one reason are always the same. */
function wordsOf(why: Rejection, { key, words, hold: { timeout } }: GatedService): Words {
  let spoken = words.get(why);
  if (!spoken) {
    const { code, message } = errorOf(why, key, timeout);
    words.set(why, (spoken = { code, body: `${code}: ${message}\n` }));
  }
  return spoken;
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
