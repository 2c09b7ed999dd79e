import { connect } from "node:net";
import { type LoopbackRequest, requestLoopback } from "./loopback-request.ts";

/** Why a program does not serve yet; undefined once it does. The signal ends a check that is no longer needed. */
export type Readiness = (signal: AbortSignal) => Promise<string | undefined>;

/** Ready when the response is 200. */
export function healthy(request: LoopbackRequest): Readiness {
  return async (signal) => {
    const { status, body } = await requestLoopback({ ...request, signal });
    return status === 200 ? undefined : `${request.url} answers ${status}: ${body.slice(0, 500)}`;
  };
}

/** Ready when a Unix socket accepts connections. */
export function listening(socket: string): Readiness {
  return async () => {
    const { promise, resolve } = Promise.withResolvers<string | undefined>();
    const connection = connect(socket);
    connection.once("connect", () => resolve(undefined));
    connection.once("error", (error) => resolve(error.message));
    return promise.finally(() => connection.destroy());
  };
}
