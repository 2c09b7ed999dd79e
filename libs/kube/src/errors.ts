import { defineError } from "@evenkeel/runtime";
import { defineRefusal } from "./wire/refusal.ts";

// How the client finds the API server and proves who it is.

export const NoCluster = defineError({
  code: "EK_KUBE_NO_CLUSTER",
  recovery: "terminal",
  message: "no cluster is known: no --kubeconfig or KUBECONFIG is given, this is no pod, and there is no {file}",
  remedy: "Give a kubeconfig, or run in a pod with a service account token (automountServiceAccountToken).",
});

export const BadKubeconfig = defineError({
  code: "EK_KUBE_BAD_KUBECONFIG",
  recovery: "terminal",
  message: "kubeconfig {file}: {fault}",
  remedy: "`kubectl config view` with the same file shows what kubectl makes of it.",
});

export const MissingCa = defineError({
  code: "EK_KUBE_MISSING_CA",
  recovery: "terminal",
  message: "the certificate authority of {server} cannot be used: {fault}",
  remedy:
    "Give the PEM file that vouches for the API server: certificate-authority in the kubeconfig, ca.crt in a pod.",
});

export const MissingCredential = defineError({
  code: "EK_KUBE_MISSING_CREDENTIAL",
  recovery: "terminal",
  message: "the {credential} for {server} cannot be used: {fault}",
  remedy: "The file that the kubeconfig names, or the pod's service account token, must be readable and whole.",
});

export const CredentialFailed = defineError({
  code: "EK_KUBE_CREDENTIAL_FAILED",
  recovery: "retryable",
  message: "the {plugin} of kubeconfig user {user} gave no credential: {fault}",
  remedy: "Run the plug-in by hand as the kubeconfig names it. It must be in the PATH of this process.",
});

// The way to the API server.

export const Unreachable = defineError({
  code: "EK_KUBE_UNREACHABLE",
  recovery: "retryable",
  message: "{call}: no connection: {fault}",
  remedy: "The API server is down, its address is wrong, or a firewall or proxy is between. The request was not sent.",
});

export const UntrustedServer = defineError({
  code: "EK_KUBE_UNTRUSTED_SERVER",
  recovery: "terminal",
  message: "{call}: the server's certificate is not trusted: {fault}",
  remedy:
    "The certificate authority in use is not the server's, or the name is not in its certificate (tls-server-name).",
});

export const ConnectionLost = defineError({
  code: "EK_KUBE_CONNECTION_LOST",
  recovery: "retryable",
  message: "{call}: the connection broke before the answer was whole: {fault}",
  remedy: "The request may have been carried out: read the object before writing it again.",
});

export const Timeout = defineError({
  code: "EK_KUBE_TIMEOUT",
  recovery: "retryable",
  message: "{call}: no whole answer within {milliseconds} ms",
  remedy: "The API server is slow or gone; the request may have been carried out. See --kube-deadline.",
});

export const BadResponse = defineError({
  code: "EK_KUBE_BAD_RESPONSE",
  recovery: "retryable",
  message: "{call}: the answer is not what Kubernetes gives: {fault}",
  remedy: "Something between answered for the API server, or the address is not one of an API server.",
});

export const ResponseTooLarge = defineError({
  code: "EK_KUBE_RESPONSE_TOO_LARGE",
  recovery: "terminal",
  message: "{call}: the answer is larger than {limit} bytes",
  remedy: "List in pages: give a limit.",
});

export const BadName = defineError({
  code: "EK_KUBE_BAD_NAME",
  recovery: "terminal",
  message: "{verb} {resource}: {fault}",
  remedy: "The caller named an object that cannot exist. Nothing was sent.",
});

export const WatchSilent = defineError({
  code: "EK_KUBE_WATCH_SILENT",
  recovery: "retryable",
  message: "{call}: nothing came for {milliseconds} ms; the connection counts as dead",
  remedy: "A network path broke without a word. The watch is opened again from where it was.",
});

export const BadWatchEvent = defineError({
  code: "EK_KUBE_BAD_WATCH_EVENT",
  recovery: "retryable",
  message: "{call}: the stream is not one of watch events: {fault}",
  remedy: "Something between damaged the stream. State is read again from the API server.",
});

// What the API server answers. Each carries the HTTP status, the Status' reason and its causes.

export const BadRequest = defineRefusal({
  code: "EK_KUBE_BAD_REQUEST",
  recovery: "terminal",
  message: "{call}: the server does not understand the request: {message}",
  remedy: "A selector, a patch or a field has the wrong form; the message says which.",
});

export const Unauthorized = defineRefusal({
  code: "EK_KUBE_UNAUTHORIZED",
  recovery: "terminal",
  message: "{call}: the server does not know who asks: {message}",
  remedy: "The token or certificate is not valid for this cluster. It was read again and tried once more.",
});

export const ExpiredCredential = defineRefusal({
  code: "EK_KUBE_EXPIRED_CREDENTIAL",
  recovery: "terminal",
  message: "{call}: the credential has expired: {message}",
  remedy: "Renew the token or client certificate; files are read again without a restart.",
});

export const Forbidden = defineRefusal({
  code: "EK_KUBE_FORBIDDEN",
  recovery: "terminal",
  message: "{call}: not allowed: {message}",
  remedy: "Grant the verb on the resource by RBAC, or see which admission rule or quota the message names.",
});

export const NotFound = defineRefusal({
  code: "EK_KUBE_NOT_FOUND",
  recovery: "terminal",
  message: "{call}: it does not exist: {message}",
  remedy: "The object is gone, or the API server does not serve this type: is its CRD installed?",
});

export const MethodNotAllowed = defineRefusal({
  code: "EK_KUBE_METHOD_NOT_ALLOWED",
  recovery: "terminal",
  message: "{call}: the type does not take this verb: {message}",
  remedy: "The API server's discovery lists the verbs of each type.",
});

export const AlreadyExists = defineRefusal({
  code: "EK_KUBE_ALREADY_EXISTS",
  recovery: "terminal",
  message: "{call}: there is one already: {message}",
  remedy: "Read the one that exists, or ask for a generated name.",
});

export const Conflict = defineRefusal({
  code: "EK_KUBE_CONFLICT",
  recovery: "retryable",
  message: "{call}: it has changed: {message}",
  remedy: "Someone wrote the object since it was read, or a precondition does not hold. Read it again and decide anew.",
});

export const FieldConflict = defineRefusal({
  code: "EK_KUBE_FIELD_CONFLICT",
  recovery: "terminal",
  message: "{call}: another manager owns the fields: {message}",
  remedy: "Leave the fields out, or apply with force to take them.",
});

export const Gone = defineRefusal({
  code: "EK_KUBE_GONE",
  recovery: "retryable",
  message: "{call}: the server has forgotten that version: {message}",
  remedy: "List again from the start: a resource version or continue token lives some minutes only.",
});

export const ResourceVersionTooLarge = defineRefusal({
  code: "EK_KUBE_RESOURCE_VERSION_TOO_LARGE",
  recovery: "retryable",
  message: "{call}: the server has not seen that version yet: {message}",
  remedy: "Another replica of the API server gave the version. It catches up, or the list is read without one.",
});

export const TooLarge = defineRefusal({
  code: "EK_KUBE_REQUEST_TOO_LARGE",
  recovery: "terminal",
  message: "{call}: the request is too large: {message}",
  remedy: "An object may have about 1.5 MB.",
});

export const UnsupportedMediaType = defineRefusal({
  code: "EK_KUBE_UNSUPPORTED_MEDIA_TYPE",
  recovery: "terminal",
  message: "{call}: the server does not take or give this form: {message}",
  remedy: "Custom resources take no strategic merge patch; use merge, json or apply.",
});

export const Invalid = defineRefusal({
  code: "EK_KUBE_INVALID",
  recovery: "terminal",
  message: "{call}: the object is not valid: {message}",
  remedy: "The message names each field and what is wrong with it.",
});

export const TooManyRequests = defineRefusal({
  code: "EK_KUBE_TOO_MANY_REQUESTS",
  recovery: "retryable",
  message: "{call}: the server has too much to do: {message}",
  remedy:
    "Priority and fairness held the request back, and retries within the deadline did too. It was not carried out.",
});

export const EvictionBlocked = defineRefusal({
  code: "EK_KUBE_EVICTION_BLOCKED",
  recovery: "retryable",
  message: "{call}: a disruption budget forbids it now: {message}",
  remedy: "Wait until more of the workload's pods are healthy. The pod was not touched.",
});

export const ServerTimeout = defineRefusal({
  code: "EK_KUBE_SERVER_TIMEOUT",
  recovery: "retryable",
  message: "{call}: the server gave up: {message}",
  remedy: "The API server or its storage is slow. The request may have been carried out.",
});

export const ServerUnavailable = defineRefusal({
  code: "EK_KUBE_SERVER_UNAVAILABLE",
  recovery: "retryable",
  message: "{call}: the server is not available: {message}",
  remedy: "The API server starts, stops, or an aggregated API behind it is down.",
});

export const ServerFault = defineRefusal({
  code: "EK_KUBE_SERVER_FAULT",
  recovery: "retryable",
  message: "{call}: the server failed: {message}",
  remedy: "The API server's log, or that of a webhook that the message names, says more.",
});

export const Refused = defineRefusal({
  code: "EK_KUBE_REFUSED",
  recovery: "terminal",
  message: "{call}: the server answered {message}",
  remedy: "The answer is none that Kubernetes documents; look for a proxy in between.",
});

// What keeps copies, loops and leases going.

export const AlreadyStarted = defineError({
  code: "EK_KUBE_ALREADY_STARTED",
  recovery: "terminal",
  message: "{what} was started twice",
  remedy: "This is a defect of the service: please report it with the log line.",
});

/** What happened to an object, or to this process, between a decision and its write. */
export type OvertakenBy = "not leader" | "deleted" | "replaced" | "changed" | "paused";

export class ActOvertaken extends defineError({
  code: "EK_KUBE_ACT_OVERTAKEN",
  recovery: "retryable",
  message: "a write for {object} was stopped, because since it was decided: {why}",
  remedy: "Nothing needs to be done: the object is reconciled again at once, from its present state.",
}) {
  readonly why: OvertakenBy;

  constructor(fields: { readonly object: string; readonly why: OvertakenBy }) {
    super(fields);
    this.why = fields.why;
  }
}

export const InitialEventsCut = defineError({
  code: "EK_KUBE_INITIAL_EVENTS_CUT",
  recovery: "retryable",
  message: "the stream of all {what} ended before it was whole",
  remedy: "Nothing was changed by it. It is asked for again, and as a list if that happens again.",
});

export const LeaseLost = defineError({
  code: "EK_KUBE_LEASE_LOST",
  recovery: "retryable",
  message: "the lease {lease} is lost: {why}",
  remedy:
    "Another replica leads now, or none could reach the API server. Leader-only work stopped; the process goes on.",
});

export const BadFencingToken = defineError({
  code: "EK_KUBE_BAD_FENCING_TOKEN",
  recovery: "terminal",
  message: "the lease {lease} has the resource version {version}, of which no fencing token can be made",
  remedy: "The API server must give resource versions that are whole numbers, as Kubernetes does.",
});

export const BadOwner = defineError({
  code: "EK_KUBE_BAD_OWNER",
  recovery: "terminal",
  message: "{owner} cannot own {object}: {fault}",
  remedy: "An owner exists on the API server, and is cluster-scoped or in the same namespace.",
});
