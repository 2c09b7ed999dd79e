import { CodedError, type CodedErrorClass, explain } from "@evenkeel/runtime";
import { faultLine } from "../errors.ts";

export type Area = "cluster" | "crds" | "rights" | "services" | "metrics" | "peers" | "state" | "versions";

export type Verdict = "ok" | "warn" | "fail";

/** One thing that was looked at. */
export interface Finding {
  readonly area: Area;
  readonly verdict: Verdict;
  readonly message: string;
  /** What to do about it. */
  readonly fix?: string;
}

/** A finding about a question that got no answer; the error's own remedy is the fix unless a better one is known. */
export function unanswered(area: Area, verdict: Verdict, what: string, error: unknown, fix = remedyOf(error)): Finding {
  return { area, verdict, message: `${what}: ${faultLine(error, explain(error))}`, ...(fix !== undefined && { fix }) };
}

function remedyOf(error: unknown): string | undefined {
  return error instanceof CodedError ? (error.constructor as Partial<CodedErrorClass>).entry?.remedy : undefined;
}
