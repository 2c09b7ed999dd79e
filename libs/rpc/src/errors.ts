import { defineError } from "@evenkeel/runtime";

export const BadRequest = defineError({
  code: "EK_RPC_BAD_REQUEST",
  recovery: "terminal",
  message: "invalid request to {method}: {fault}",
  remedy: "The message names the field and its valid values. See the protos in libs/rpc/proto.",
});

export const NotFound = defineError({
  code: "EK_RPC_NOT_FOUND",
  recovery: "terminal",
  message: "{what} not found",
  remedy: "Check kind, namespace and name. The service keeps only the latest decisions.",
});

export const NoSuchMethod = defineError({
  code: "EK_RPC_NO_SUCH_METHOD",
  recovery: "terminal",
  message: "this service has no method {method}",
  remedy: "Reflection on the gRPC port lists the methods. Another service or a newer version may have this one.",
});

export const NeedsPost = defineError({
  code: "EK_RPC_NEEDS_POST",
  recovery: "terminal",
  message: "{method} changes something and needs POST",
  remedy: "Send the request as a JSON body by POST, with a bearer token.",
});

export const Unauthenticated = defineError({
  code: "EK_RPC_UNAUTHENTICATED",
  recovery: "terminal",
  message: "{method} needs a bearer token that the Kubernetes API server accepts",
  remedy: "Send `authorization: Bearer <token>`, for example with a token of `kubectl create token <service account>`.",
});

export const Forbidden = defineError({
  code: "EK_RPC_FORBIDDEN",
  recovery: "terminal",
  message: "{user} may not {verb} {object}",
  remedy: "Grant the verb on the object by a Role or ClusterRole; the chart of the service has one to bind.",
});

export const PlaintextRefused = defineError({
  code: "EK_RPC_PLAINTEXT_REFUSED",
  recovery: "terminal",
  message:
    "{method} changes something and is refused over plain HTTP, where others can read the token: use `kubectl port-forward`, HTTPS or gRPC",
  remedy:
    "Reach the admin port through `kubectl port-forward`, or serve it over TLS with --admin-tls. gRPC takes the same call over TLS. " +
    "Nothing was changed. If the token was sent from another machine, replace it.",
});

export const CannotAuthorize = defineError({
  code: "EK_RPC_CANNOT_AUTHORIZE",
  recovery: "retryable",
  message: "{method} was refused: the rights of the caller cannot be checked now",
  remedy: "The API server does not answer, or this process runs without one. Nothing was changed. Retry.",
});

export const TooBusy = defineError({
  code: "EK_RPC_TOO_BUSY",
  recovery: "retryable",
  message: "the limit of {limit} open {what} is reached",
  remedy: "Retry later. If all callers are expected, raise --grpc-max-calls or --grpc-max-streams.",
});

export const Draining = defineError({
  code: "EK_RPC_DRAINING",
  recovery: "retryable",
  message: "this replica is shutting down",
  remedy: "Retry: another replica, or the next one, answers.",
});

export const BadCertificate = defineError({
  code: "EK_RPC_BAD_CERTIFICATE",
  recovery: "terminal",
  message: "cannot use the certificates {files}",
  remedy:
    "The line ends with the cause. At startup this ends the process. Later the current certificates stay in use, and the files are " +
    "read again every --tls-reload-interval.",
});

export const BadPeerAddress = defineError({
  code: "EK_RPC_BAD_PEER_ADDRESS",
  recovery: "terminal",
  message: "invalid peer address {address}",
  remedy: "Use host:port or dns:///host:port.",
});

export const PeerAway = defineError({
  code: "EK_RPC_PEER_AWAY",
  recovery: "retryable",
  message: "{method} failed: {peer} is unreachable",
  remedy: "Peers are optional: the service continues without it, and reconnects when it is reachable.",
});

export const PeerSlow = defineError({
  code: "EK_RPC_PEER_SLOW",
  recovery: "retryable",
  message: "{method} got no answer from {peer} within its deadline",
  remedy: "The peer is slow or hung. A change may or may not have happened. Every such call can be retried.",
});

export const PeerBusy = defineError({
  code: "EK_RPC_PEER_BUSY",
  recovery: "retryable",
  message: "{peer} rejected {method} for now: {fault}",
  remedy: "The call reached a limit of the peer, or the answer a limit of this process. The message says which.",
});

export const PeerRefused = defineError({
  code: "EK_RPC_PEER_REFUSED",
  recovery: "terminal",
  message: "{peer} refused {method} with {status}: {fault}",
  remedy: "The message ends with the error of the peer. If it has a code, see that code on this page.",
});
