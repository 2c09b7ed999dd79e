import type { HoldOutcome, Refusal } from "@evenkeel/forward";
import type { CodedError } from "@evenkeel/runtime";
import { NoDescriptors, NoLongerServed, NoRoom, NotAwake, PortAsleep } from "./errors.ts";
import type { GatedService } from "./gated-service.ts";

/** Why a request was not forwarded, as metric label. */
export type Rejection = Worded | "protocol";

/** Those that the client is told, if its protocol has words for it. */
export type Worded = Exclude<HoldOutcome, "released"> | "descriptors" | "portAsleep";

/** The response to a client. */
export interface RefusalText {
  readonly code: string;
  readonly body: string;
}

/** The response to a request that was not forwarded. `coldStart` has the headers for a request that waited. */
export function refusalOf(service: GatedService, why: Worded, coldStart: readonly string[]): Refusal {
  const { placeholder, retryAfterSeconds } = service.hold;
  if (placeholder && (why === "overflowCount" || why === "overflowBytes" || why === "descriptors")) {
    const { status, body, contentType } = placeholder;
    return { status, body, headers: ["content-type", contentType, "retry-after", String(retryAfterSeconds)] };
  }
  const { code, body } = textOf(why, service);
  return { status: 503, code, headers: ["retry-after", String(retryAfterSeconds), ...coldStart], body };
}

/** Cached, because each new error captures a stack, which costs too much during a flood. */
function textOf(why: Worded, { key, refusals, hold: { timeout } }: GatedService): RefusalText {
  let spoken = refusals.get(why);
  if (!spoken) {
    const { code, message } = errorOf(why, key, timeout);
    refusals.set(why, (spoken = { code, body: `${code}: ${message}\n` }));
  }
  return spoken;
}

function errorOf(why: Worded, service: string, timeout: number): CodedError {
  switch (why) {
    case "overflowCount":
    case "overflowBytes":
      return new NoRoom({ service });
    case "deadline":
      return new NotAwake({ service, seconds: timeout / 1000 });
    case "portAsleep":
      return new PortAsleep({ service });
    case "descriptors":
      return new NoDescriptors({});
    // The client has disconnected, so nothing is sent.
    case "clientGone":
    case "drained":
      return new NoLongerServed({ service });
  }
}
