import { CodedError, toError } from "@evenkeel/runtime";

/**
 * The error for a caller that stops waiting: the last fault of the calls so far, with the signal's reason as its cause.
 * Without a fault, the reason itself.
 */
export function whyNotYet({ trouble }: { readonly trouble: CodedError | undefined }, signal: AbortSignal): Error {
  if (trouble === undefined) return toError(signal.reason);
  const { code, recovery, message } = trouble;
  const entry = { code: code as `EK_${string}`, recovery, message: "{message}", remedy: "" };
  return new CodedError(entry, { message }, { cause: signal.reason });
}
