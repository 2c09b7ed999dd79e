import { defineError } from "@evenkeel/runtime";

export const Unreachable = defineError({
  code: "EK_FORWARD_UNREACHABLE",
  recovery: "retryable",
  message: "no connection to {origin}",
  remedy: "Nothing of the request was sent. The upstream is down, starting or unreachable. Retry.",
});

export const Broken = defineError({
  code: "EK_FORWARD_BROKEN",
  recovery: "retryable",
  message: "{origin} closed the connection before it answered",
  remedy: "The upstream may or may not have processed the request. See its log. Retry if the request is idempotent.",
});

export const BadAnswer = defineError({
  code: "EK_FORWARD_BAD_ANSWER",
  recovery: "terminal",
  message: "the answer of {origin} is not valid HTTP",
  remedy:
    "The port may speak another protocol (TLS, or HTTP/2 where HTTP/1.1 is expected), or the header of the answer is too large.",
});

export const TooSlow = defineError({
  code: "EK_FORWARD_TOO_SLOW",
  recovery: "retryable",
  message: "{origin} did not answer within the deadline",
  remedy: "The upstream is slow or hung. If the request needs longer, raise the deadline of its route.",
});

export const Untrusted = defineError({
  code: "EK_FORWARD_UNTRUSTED",
  recovery: "terminal",
  message: "the TLS certificate of {origin} is not accepted ({fault})",
  remedy:
    "Nothing of the request was sent. Check the authorities, the server name and the validity of the certificate.",
});

export const BadTlsMaterial = defineError({
  code: "EK_FORWARD_BAD_TLS_MATERIAL",
  recovery: "terminal",
  message: "the TLS material of {subject} is unusable: {fault}",
  remedy: "Check that certificate, key and authorities are valid PEM, and that the key belongs to the certificate.",
});

export const BadRequest = defineError({
  code: "EK_FORWARD_BAD_REQUEST",
  recovery: "terminal",
  message: "the request cannot be forwarded: {fault}",
  remedy: "The request is malformed in a way that two servers could interpret differently, so it is refused.",
});

export const HeadTooLarge = defineError({
  code: "EK_FORWARD_HEAD_TOO_LARGE",
  recovery: "terminal",
  message: "the request's headers are larger than this listener accepts",
  remedy: "Send fewer or smaller headers, often cookies; or raise the limit of the listener.",
});

export const HeadTooSlow = defineError({
  code: "EK_FORWARD_HEAD_TOO_SLOW",
  recovery: "retryable",
  message: "the request's headers did not arrive in time",
  remedy: "The client or its network is too slow, or the client opened a connection that it does not use.",
});

export const BodyTooLong = defineError({
  code: "EK_FORWARD_BODY_TOO_LONG",
  recovery: "terminal",
  message: "the request's body is longer than {limit} bytes",
  remedy: "Send a smaller body, or split it over several requests.",
});

export const BodyTooSlow = defineError({
  code: "EK_FORWARD_BODY_TOO_SLOW",
  recovery: "retryable",
  message: "the request's body did not arrive in time",
  remedy: "The client or its network is too slow. Retry.",
});

export const NotAnswered = defineError({
  code: "EK_FORWARD_NOT_ANSWERED",
  recovery: "terminal",
  message: "the request could not be answered",
  remedy: "This is a defect: please report it with the log line. Other requests are not affected.",
});

/** For code that answers a request itself. Clients never see it. */
export const ExchangeEnded = defineError({
  code: "EK_FORWARD_EXCHANGE_ENDED",
  recovery: "terminal",
  message: "the client disconnected, or the deadline of its request passed",
  remedy: "Nothing to do: the client no longer waits for this answer.",
});

export const NotForwarded = defineError({
  code: "EK_FORWARD_NOT_FORWARDED",
  recovery: "terminal",
  message: "{what} is not forwarded",
  remedy:
    "CONNECT, transfer codings other than chunked and methods that HTTP/1.1 parsers do not know are not supported. Call the upstream directly.",
});

export const NoRoute = defineError({
  code: "EK_FORWARD_NO_ROUTE",
  recovery: "terminal",
  message: "the request could not be routed",
  remedy: "This is a defect: please report it with the log line. Other requests are not affected.",
});

export const Stopping = defineError({
  code: "EK_FORWARD_STOPPING",
  recovery: "retryable",
  message: "this replica is shutting down",
  remedy: "Retry: another replica, or the next one, answers.",
});

export const CannotListen = defineError({
  code: "EK_FORWARD_CANNOT_LISTEN",
  recovery: "terminal",
  message: "{listener} cannot listen on {address}, which {flag} chooses",
  remedy: "The port is in use, or the process is not permitted to use it. Choose another port.",
});
