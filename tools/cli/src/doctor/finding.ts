import { CodedError, type CodedErrorClass, explain } from "@evenkeel/runtime";
import { faultLine } from "../errors.ts";

export type Area = "cluster" | "crds" | "rights" | "network" | "services" | "metrics" | "peers" | "state" | "versions";

export type Verdict = "ok" | "warn" | "fail";

/** The result of one check. */
export interface Finding {
  readonly area: Area;
  readonly verdict: Verdict;
  readonly message: string;
  /** What to do about it. */
  readonly fix?: string;
}

/** A check that failed with an error. The fix is the error's own remedy unless a better one is known. */
export function unanswered(area: Area, verdict: Verdict, what: string, error: unknown, fix = remedyOf(error)): Finding {
  return { area, verdict, message: `${what}: ${faultLine(error, explain(error))}`, ...(fix !== undefined && { fix }) };
}

function remedyOf(error: unknown): string | undefined {
  return error instanceof CodedError ? (error.constructor as Partial<CodedErrorClass>).entry?.remedy : undefined;
}
