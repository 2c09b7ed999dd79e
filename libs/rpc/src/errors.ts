import { defineError } from "@evenkeel/runtime";

export const BadRequest = defineError({
  code: "EK_RPC_BAD_REQUEST",
  recovery: "terminal",
  message: "{method} cannot take this request: {fault}",
  remedy: "The line names the field and what it takes; the protos under libs/rpc/proto say the rest.",
});

export const NotFound = defineError({
  code: "EK_RPC_NOT_FOUND",
  recovery: "terminal",
  message: "there is no {what}",
  remedy: "Check kind, namespace and name. What was never decided about, or was long ago, is not known here.",
});

export const NoSuchMethod = defineError({
  code: "EK_RPC_NO_SUCH_METHOD",
  recovery: "terminal",
  message: "this service has no {method}",
  remedy: "Reflection on the gRPC port lists what it serves. Another service, or a newer version, may have the method.",
});

export const NeedsPost = defineError({
  code: "EK_RPC_NEEDS_POST",
  recovery: "terminal",
  message: "{method} changes something and is called by POST alone",
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
  message: "{method} was not done: the caller's rights cannot be checked now",
  remedy: "The API server does not answer, or this process runs without one. Nothing was changed; try again.",
});

export const TooBusy = defineError({
  code: "EK_RPC_TOO_BUSY",
  recovery: "retryable",
  message: "{limit} {what} are open already, which is the limit",
  remedy: "Try again later. If the callers are all meant, raise --grpc-max-calls or --grpc-max-streams.",
});

export const Draining = defineError({
  code: "EK_RPC_DRAINING",
  recovery: "retryable",
  message: "this replica is stopping",
  remedy: "Try again: another replica, or the next one, answers.",
});

export const BadCertificate = defineError({
  code: "EK_RPC_BAD_CERTIFICATE",
  recovery: "terminal",
  message: "the certificates {files} cannot be used",
  remedy:
    "The cause follows in the line. At the start this ends the process; later the certificates in use stay in use, and the files are " +
    "read again every few seconds.",
});

export const BadPeerAddress = defineError({
  code: "EK_RPC_BAD_PEER_ADDRESS",
  recovery: "terminal",
  message: "{address} is no address of a peer",
  remedy: "Give host:port or dns:///host:port.",
});

export const PeerAway = defineError({
  code: "EK_RPC_PEER_AWAY",
  recovery: "retryable",
  message: "{method} got no answer from {peer}: it is away",
  remedy: "Peers are optional: the service goes on without. It is connected to again as soon as it is back.",
});

export const PeerSlow = defineError({
  code: "EK_RPC_PEER_SLOW",
  recovery: "retryable",
  message: "{method} got no answer from {peer} within its deadline",
  remedy: "The peer is slow or hung. If it writes, it may have happened or not; every such call can be repeated.",
});

export const PeerBusy = defineError({
  code: "EK_RPC_PEER_BUSY",
  recovery: "retryable",
  message: "{peer} would not take {method} now: {fault}",
  remedy: "A limit of the peer, or of this side for what it answers, was reached; the line says which.",
});

export const PeerRefused = defineError({
  code: "EK_RPC_PEER_REFUSED",
  recovery: "terminal",
  message: "{peer} refused {method} with {status}: {fault}",
  remedy: "The peer's own words follow; a code among them is explained on this page.",
});
