import { CodedError, toError } from "@evenkeel/runtime";

/**
 * The error for a caller that gives up waiting: the fault that calls have met with so far, with the signal's reason as its cause. Undisturbed
 * calls leave the reason alone.
 */
export function whyNotYet({ trouble }: { readonly trouble: CodedError | undefined }, signal: AbortSignal): Error {
  if (trouble === undefined) return toError(signal.reason);
  const { code, recovery, message } = trouble;
  const entry = { code: code as `EK_${string}`, recovery, message: "{message}", remedy: "" };
  return new CodedError(entry, { message }, { cause: signal.reason });
}
