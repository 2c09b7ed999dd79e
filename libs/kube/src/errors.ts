import { defineError } from "@evenkeel/runtime";
import { defineRefusal } from "./wire/refusal.ts";

// Finding the API server and authenticating to it.

export const NoCluster = defineError({
  code: "EK_KUBE_NO_CLUSTER",
  recovery: "terminal",
  message:
    "no cluster is configured: --kubeconfig and KUBECONFIG are not set, this process is not in a pod, and {file} does not exist",
  remedy: "Set --kubeconfig, or run in a pod with a service account token (automountServiceAccountToken).",
});

export const BadKubeconfig = defineError({
  code: "EK_KUBE_BAD_KUBECONFIG",
  recovery: "terminal",
  message: "kubeconfig {file}: {fault}",
  remedy: "Check the file with `kubectl config view --kubeconfig <file>`.",
});

export const MissingCa = defineError({
  code: "EK_KUBE_MISSING_CA",
  recovery: "terminal",
  message: "the certificate authority for {server} cannot be used: {fault}",
  remedy: "Provide a PEM file with the CA of the API server: certificate-authority in the kubeconfig, ca.crt in a pod.",
});

export const MissingCredential = defineError({
  code: "EK_KUBE_MISSING_CREDENTIAL",
  recovery: "terminal",
  message: "the {credential} for {server} cannot be used: {fault}",
  remedy: "Make the file that the kubeconfig names, or the pod's service account token, readable and complete.",
});

export const CredentialFailed = defineError({
  code: "EK_KUBE_CREDENTIAL_FAILED",
  recovery: "retryable",
  message: "the {plugin} of kubeconfig user {user} returned no credential: {fault}",
  remedy: "Run the command from the kubeconfig by hand. It must be in the PATH of this process.",
});

// The connection to the API server.

export const Unreachable = defineError({
  code: "EK_KUBE_UNREACHABLE",
  recovery: "retryable",
  message: "{call}: connection failed: {fault}",
  remedy:
    "Check that the API server is up, that its address is right, and that no firewall or proxy blocks it. The request was not sent.",
});

export const UntrustedServer = defineError({
  code: "EK_KUBE_UNTRUSTED_SERVER",
  recovery: "terminal",
  message: "{call}: the server's certificate is not trusted: {fault}",
  remedy: "Check the certificate authority, and that the server's certificate contains its name (tls-server-name).",
});

export const ConnectionLost = defineError({
  code: "EK_KUBE_CONNECTION_LOST",
  recovery: "retryable",
  message: "{call}: the connection broke before the response was complete: {fault}",
  remedy: "The server may have carried out the request: read the object before you write it again.",
});

export const Timeout = defineError({
  code: "EK_KUBE_TIMEOUT",
  recovery: "retryable",
  message: "{call}: no complete response within {milliseconds} ms",
  remedy: "The API server is slow or down, and may have carried out the request. See --kube-deadline.",
});

export const BadResponse = defineError({
  code: "EK_KUBE_BAD_RESPONSE",
  recovery: "retryable",
  message: "{call}: the response is not one of a Kubernetes API server: {fault}",
  remedy: "Check the address, and whether a proxy answered instead of the API server.",
});

export const ResponseTooLarge = defineError({
  code: "EK_KUBE_RESPONSE_TOO_LARGE",
  recovery: "terminal",
  message: "{call}: the response is larger than {limit} bytes",
  remedy: "List in pages: set a limit.",
});

export const BadName = defineError({
  code: "EK_KUBE_BAD_NAME",
  recovery: "terminal",
  message: "{verb} {resource}: {fault}",
  remedy: "The name is not valid, so nothing was sent. Correct the name.",
});

export const WatchSilent = defineError({
  code: "EK_KUBE_WATCH_SILENT",
  recovery: "retryable",
  message: "{call}: no data for {milliseconds} ms; the connection is considered dead",
  remedy:
    "Nothing needs to be done: the watch is opened again from its last version. If it happens often, check the network.",
});

export const BadWatchEvent = defineError({
  code: "EK_KUBE_BAD_WATCH_EVENT",
  recovery: "retryable",
  message: "{call}: the stream is not a stream of watch events: {fault}",
  remedy: "The objects are read again from the API server. If it happens often, check the proxies on the path.",
});

// Responses of the API server. Each has the HTTP status, and the reason and causes of the Status.

export const BadRequest = defineRefusal({
  code: "EK_KUBE_BAD_REQUEST",
  recovery: "terminal",
  message: "{call}: the request is malformed: {message}",
  remedy: "The message names the selector, patch or field that is wrong.",
});

export const Unauthorized = defineRefusal({
  code: "EK_KUBE_UNAUTHORIZED",
  recovery: "terminal",
  message: "{call}: authentication failed: {message}",
  remedy: "Use a token or certificate that is valid for this cluster. It was read again and retried once.",
});

export const ExpiredCredential = defineRefusal({
  code: "EK_KUBE_EXPIRED_CREDENTIAL",
  recovery: "terminal",
  message: "{call}: the credential has expired: {message}",
  remedy: "Renew the token or client certificate. Files are read again without a restart.",
});

export const Forbidden = defineRefusal({
  code: "EK_KUBE_FORBIDDEN",
  recovery: "terminal",
  message: "{call}: forbidden: {message}",
  remedy: "Grant the verb on the resource by RBAC, or change the admission rule or quota that the message names.",
});

export const NotFound = defineRefusal({
  code: "EK_KUBE_NOT_FOUND",
  recovery: "terminal",
  message: "{call}: not found: {message}",
  remedy: "Check that the object exists, and that the CRD of its type is installed.",
});

export const MethodNotAllowed = defineRefusal({
  code: "EK_KUBE_METHOD_NOT_ALLOWED",
  recovery: "terminal",
  message: "{call}: the type does not support this verb: {message}",
  remedy: "The API server's discovery lists the verbs of each type.",
});

export const AlreadyExists = defineRefusal({
  code: "EK_KUBE_ALREADY_EXISTS",
  recovery: "terminal",
  message: "{call}: it exists already: {message}",
  remedy: "Read the existing object, or use generateName.",
});

export const Conflict = defineRefusal({
  code: "EK_KUBE_CONFLICT",
  recovery: "retryable",
  message: "{call}: the object has changed: {message}",
  remedy: "The object was written since it was read, or a precondition does not hold. Read it again and retry.",
});

export const FieldConflict = defineRefusal({
  code: "EK_KUBE_FIELD_CONFLICT",
  recovery: "terminal",
  message: "{call}: another manager owns the fields: {message}",
  remedy: "Leave the fields out, or apply with force to take ownership.",
});

export const Gone = defineRefusal({
  code: "EK_KUBE_GONE",
  recovery: "retryable",
  message: "{call}: the resource version has expired: {message}",
  remedy: "List again from the start. A resource version or continue token is valid for some minutes only.",
});

export const ResourceVersionTooLarge = defineRefusal({
  code: "EK_KUBE_RESOURCE_VERSION_TOO_LARGE",
  recovery: "retryable",
  message: "{call}: the resource version is newer than the server's: {message}",
  remedy: "Nothing needs to be done: this replica of the API server catches up, or the list is read without a version.",
});

export const TooLarge = defineRefusal({
  code: "EK_KUBE_REQUEST_TOO_LARGE",
  recovery: "terminal",
  message: "{call}: the request is too large: {message}",
  remedy: "Make the object smaller than about 1.5 MB.",
});

export const UnsupportedMediaType = defineRefusal({
  code: "EK_KUBE_UNSUPPORTED_MEDIA_TYPE",
  recovery: "terminal",
  message: "{call}: the content type is not supported: {message}",
  remedy: "Custom resources do not support strategic merge patches; use merge, json or apply.",
});

export const Invalid = defineRefusal({
  code: "EK_KUBE_INVALID",
  recovery: "terminal",
  message: "{call}: the object is invalid: {message}",
  remedy: "Correct the fields that the message names.",
});

export const TooManyRequests = defineRefusal({
  code: "EK_KUBE_TOO_MANY_REQUESTS",
  recovery: "retryable",
  message: "{call}: the server is overloaded: {message}",
  remedy: "The request was not carried out, retries included. Check the API server's priority and fairness settings.",
});

export const EvictionBlocked = defineRefusal({
  code: "EK_KUBE_EVICTION_BLOCKED",
  recovery: "retryable",
  message: "{call}: a disruption budget forbids the eviction now: {message}",
  remedy: "Wait until more of the workload's pods are healthy. The pod was not evicted.",
});

export const ServerTimeout = defineRefusal({
  code: "EK_KUBE_SERVER_TIMEOUT",
  recovery: "retryable",
  message: "{call}: the server timed out: {message}",
  remedy: "The API server or its storage is slow, and may have carried out the request.",
});

export const ServerUnavailable = defineRefusal({
  code: "EK_KUBE_SERVER_UNAVAILABLE",
  recovery: "retryable",
  message: "{call}: the server is unavailable: {message}",
  remedy: "The API server is starting or stopping, or an aggregated API is down. Wait and retry.",
});

export const ServerFault = defineRefusal({
  code: "EK_KUBE_SERVER_FAULT",
  recovery: "retryable",
  message: "{call}: the server failed: {message}",
  remedy: "See the log of the API server, or of the webhook that the message names.",
});

export const Refused = defineRefusal({
  code: "EK_KUBE_REFUSED",
  recovery: "terminal",
  message: "{call}: unexpected response {message}",
  remedy: "Kubernetes does not document this response. Check whether a proxy sent it.",
});

// Caches, controllers and leases.

export const AlreadyStarted = defineError({
  code: "EK_KUBE_ALREADY_STARTED",
  recovery: "terminal",
  message: "{what} was started twice",
  remedy: "This is a bug in the service: please report it with the log line.",
});

/** What happened to an object, or to this process, between a decision and its write. */
export type OvertakenBy = "not leader" | "deleted" | "replaced" | "changed" | "paused";

export class ActOvertaken extends defineError({
  code: "EK_KUBE_ACT_OVERTAKEN",
  recovery: "retryable",
  message: "a write for {object} was stopped because its decision is outdated ({why})",
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
  message: "the stream of all {what} ended before it was complete",
  remedy: "Nothing needs to be done: the stream is opened again, and replaced by a list if it fails again.",
});

export const LeaseLost = defineError({
  code: "EK_KUBE_LEASE_LOST",
  recovery: "retryable",
  message: "the lease {lease} is lost: {why}",
  remedy:
    "Another replica leads now, or this one cannot reach the API server. Leader-only work stopped; the process continues.",
});

export const BadFencingToken = defineError({
  code: "EK_KUBE_BAD_FENCING_TOKEN",
  recovery: "terminal",
  message: "the lease {lease} has the resource version {version}, which is not a whole number",
  remedy: "Fencing tokens need resource versions that are whole numbers, as those of Kubernetes are.",
});

export const BadOwner = defineError({
  code: "EK_KUBE_BAD_OWNER",
  recovery: "terminal",
  message: "{owner} cannot own {object}: {fault}",
  remedy: "Use an owner that exists on the API server and is cluster-scoped or in the same namespace.",
});
