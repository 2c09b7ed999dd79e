import { type CallOptions, ClientError, type ClientMiddleware, Metadata, Status } from "nice-grpc-common";
import type { DeadlineOptions } from "nice-grpc-client-middleware-deadline";
import { PeerAway, PeerBusy, PeerRefused, PeerSlow } from "../errors.ts";
import { CODE_TRAILER, statusName } from "../status.ts";

/**
 * Gives every call a deadline and sends it to the peer, so that the peer stops working when the caller no longer waits.
 */
export function defaultDeadline(unary: number, stream: number): ClientMiddleware<DeadlineOptions> {
  return async function* (call, options) {
    const { deadline = call.responseStream ? stream : unary } = options;
    const left = Math.max(0, Math.ceil(deadline instanceof Date ? deadline.getTime() - Date.now() : deadline));
    // At most eight digits, as the protocol has it; this many milliseconds are a day.
    const metadata = Metadata(options.metadata).set("grpc-timeout", `${Math.min(left, 99_999_999)}m`);
    return yield* call.next(call.request, { ...options, deadline: left, metadata } as CallOptions & DeadlineOptions);
  };
}

/** Adds a bearer token to calls that may change something, and to no other. */
export function withToken(token: (() => Promise<string>) | undefined): ClientMiddleware {
  return async function* (call, options) {
    if (!token || call.method.options.idempotencyLevel === "NO_SIDE_EFFECTS")
      return yield* call.next(call.request, options);
    const metadata = Metadata(options.metadata).set("authorization", `Bearer ${await token()}`);
    return yield* call.next(call.request, { ...options, metadata });
  };
}

/** Turns the gRPC library's errors into coded ones. */
export function codedErrors(peer: string): ClientMiddleware {
  return async function* (call, options) {
    let code: string | undefined;
    const onTrailer = (trailer: Metadata) => {
      code = trailer.get(CODE_TRAILER);
      options.onTrailer?.(trailer);
    };
    try {
      return yield* call.next(call.request, { ...options, onTrailer });
    } catch (error) {
      throw error instanceof ClientError ? coded(peer, error, code) : error;
    }
  };
}

function coded(peer: string, cause: ClientError, code: string | undefined): Error {
  const method = cause.path.slice(1);
  const words = cause.details.slice(0, 500);
  const fault = code === undefined ? words : `${code}: ${words}`;
  switch (cause.code) {
    case Status.UNAVAILABLE:
      return new PeerAway({ peer, method }, { cause });
    case Status.DEADLINE_EXCEEDED:
      return new PeerSlow({ peer, method }, { cause });
    case Status.RESOURCE_EXHAUSTED:
      return new PeerBusy({ peer, method, fault }, { cause });
    default:
      return new PeerRefused({ peer, method, status: statusName(cause.code), fault }, { cause });
  }
}
