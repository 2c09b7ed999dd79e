import type { CodedError } from "@evenkeel/runtime";
import type { Failure } from "../destination.ts";
import { BadAnswer, Broken, TooSlow, Unreachable } from "../errors.ts";

/** The response to a client after the last try failed. */
export interface Verdict {
  readonly status: number;
  readonly error: CodedError;
}

export function verdictOn({ kind, origin, error: cause }: Failure): Verdict {
  const fields = { origin: `${origin.host}:${origin.port}` };
  switch (kind) {
    case "connect":
      return { status: 503, error: new Unreachable(fields, { cause }) };
    case "reset":
      return { status: 502, error: new Broken(fields, { cause }) };
    case "protocol":
      return { status: 502, error: new BadAnswer(fields, { cause }) };
    case "deadline":
      return { status: 504, error: new TooSlow(fields, { cause }) };
  }
}
