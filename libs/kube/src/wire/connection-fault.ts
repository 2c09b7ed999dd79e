import { CodedError, explain } from "@evenkeel/runtime";
import { ConnectionLost, Unreachable, UntrustedServer } from "../errors.ts";
import { oneLine } from "./status.ts";

/** TLS error codes for a server that is not trusted, without the others that start alike. */
const UNTRUSTED =
  /^(CERT_|SELF_SIGNED_|DEPTH_ZERO_SELF_SIGNED|UNABLE_TO_(GET|VERIFY)|ERR_TLS_CERT_|HOSTNAME_MISMATCH|INVALID_CA|PATH_LENGTH)/;

/** The coded error for a connection that failed. `sending`: the server may have seen the request. */
export function connectionFault(call: string, thrown: unknown, sending: boolean): CodedError {
  if (thrown instanceof CodedError) return thrown;
  const code = codeOf(thrown);
  const fault = oneLine(code === "" ? explain(thrown) : `${explain(thrown)} (${code})`);
  if (UNTRUSTED.test(code)) return new UntrustedServer({ call, fault }, { cause: thrown });
  return sending
    ? new ConnectionLost({ call, fault }, { cause: thrown })
    : new Unreachable({ call, fault }, { cause: thrown });
}

/** The most precise code of an error: that of its innermost cause, or of the first of several causes. */
function codeOf(thrown: unknown): string {
  let code = "";
  let error = thrown;
  for (let depth = 0; typeof error === "object" && error !== null && depth < 8; depth++) {
    const fields = error as { readonly code?: unknown; readonly cause?: unknown; readonly errors?: readonly unknown[] };
    if (typeof fields.code === "string") ({ code } = fields as { code: string });
    error = fields.errors?.[0] ?? fields.cause;
  }
  return code;
}
