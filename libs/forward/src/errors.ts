import { defineError } from "@evenkeel/runtime";

export const Unreachable = defineError({
  code: "EK_FORWARD_UNREACHABLE",
  recovery: "retryable",
  message: "no connection to {origin}",
  remedy: "Nothing of the request was sent. The upstream is down, starting, or not reachable from here; try again.",
});

export const Broken = defineError({
  code: "EK_FORWARD_BROKEN",
  recovery: "retryable",
  message: "{origin} broke the connection before it answered",
  remedy: "The upstream may have acted on the request or not. Its log says why it closed; repeat what can be repeated.",
});

export const BadAnswer = defineError({
  code: "EK_FORWARD_BAD_ANSWER",
  recovery: "terminal",
  message: "{origin} answered with something that is no HTTP",
  remedy:
    "The port may speak another protocol (TLS, or HTTP/2 where HTTP/1.1 is expected), or its answer's head is too large.",
});

export const TooSlow = defineError({
  code: "EK_FORWARD_TOO_SLOW",
  recovery: "retryable",
  message: "{origin} did not answer within the deadline",
  remedy: "The upstream is slow or hung. If the request needs longer, raise the deadline of its route.",
});

export const BadRequest = defineError({
  code: "EK_FORWARD_BAD_REQUEST",
  recovery: "terminal",
  message: "the request cannot be forwarded: {fault}",
  remedy: "The request breaks the grammar of HTTP in a way that two servers could read differently, so it is refused.",
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
  remedy: "The client or its network is too slow, or it opened a connection without a use for it.",
});

export const NotForwarded = defineError({
  code: "EK_FORWARD_NOT_FORWARDED",
  recovery: "terminal",
  message: "{what} is not forwarded",
  remedy:
    "CONNECT, transfer codings other than chunked and methods that HTTP/1.1 parsers do not know end at the first server. Speak to the upstream directly.",
});

export const NoRoute = defineError({
  code: "EK_FORWARD_NO_ROUTE",
  recovery: "terminal",
  message: "the route of the request could not be found",
  remedy: "A defect: the log has the cause. Other requests are not affected.",
});

export const Stopping = defineError({
  code: "EK_FORWARD_STOPPING",
  recovery: "retryable",
  message: "this replica is stopping",
  remedy: "Try again: another replica, or the next one, answers.",
});

export const CannotListen = defineError({
  code: "EK_FORWARD_CANNOT_LISTEN",
  recovery: "terminal",
  message: "{listener} cannot listen on {address}, which {flag} chooses",
  remedy: "The port is taken, or needs rights that the process lacks. Choose another.",
});
