import { defineError } from "@evenkeel/runtime";

export const NoCredential = defineError({
  code: "EK_PROXY_NO_CREDENTIAL",
  recovery: "terminal",
  message: "the request has no credential: send a bearer token, or a client certificate of this cluster",
  remedy: "Use a kubeconfig user that works with the own cluster's API server.",
});

export const TokenRefused = defineError({
  code: "EK_PROXY_TOKEN_REFUSED",
  recovery: "terminal",
  message: "the own cluster does not accept the bearer token: it has expired, or it is not of this cluster",
  remedy: "Get a new token, for example with kubectl create token or by signing in again.",
});

export const CertificateRefused = defineError({
  code: "EK_PROXY_CERTIFICATE_REFUSED",
  recovery: "terminal",
  message: "the client certificate is not accepted ({fault}): use one that the own cluster's authority issued",
  remedy:
    "The certificate must be valid now and issued by the authority in ConfigMap kube-system/extension-apiserver-authentication, or in --client-ca-file.",
});

export const NotAPeer = defineError({
  code: "EK_PROXY_NOT_A_PEER",
  recovery: "terminal",
  message: "the port for peers does not accept this client ({fault}): users connect to the port for users",
  remedy:
    "A peer presents a certificate with a common name of --peer-names that one of the authorities in --peer-authorities issued.",
});

export const NoIdentity = defineError({
  code: "EK_PROXY_NO_IDENTITY",
  recovery: "terminal",
  message: "the request of peer {peer} does not say for which user it is made ({fault})",
  remedy: "Peers send X-Remote-User. Run the same version of endpoint-proxy in both clusters.",
});

export const BadImpersonation = defineError({
  code: "EK_PROXY_BAD_IMPERSONATION",
  recovery: "terminal",
  message: "the Impersonate headers cannot be used: {fault}",
  remedy: "Send Impersonate-User once, and Impersonate-Group, -Uid and -Extra only together with it.",
});

export const ImpersonationForbidden = defineError({
  code: "EK_PROXY_IMPERSONATION_FORBIDDEN",
  recovery: "terminal",
  message: "{object} is forbidden: User {user} cannot impersonate resource {resource} in API group {group} {scope}",
  remedy: "Grant the user the verb impersonate on that resource in the own cluster, or leave out kubectl's --as.",
});

export const ForgedHeader = defineError({
  code: "EK_PROXY_FORGED_HEADER",
  recovery: "terminal",
  message: "the request has a header that only endpoint-proxy itself sends: {header}",
  remedy: "Remove the header. Users act for others with kubectl's --as; peers are authenticated by their certificate.",
});

export const UnsendableIdentity = defineError({
  code: "EK_PROXY_UNSENDABLE_IDENTITY",
  recovery: "terminal",
  message: "the {what} of this identity cannot be sent in a header without a change of its meaning",
  remedy: "Names of users and groups must not be empty, nor have control characters or white space at either end.",
});

export const ReviewFailed = defineError({
  code: "EK_PROXY_REVIEW_FAILED",
  recovery: "retryable",
  message: "authentication failed: the own cluster's API server did not check the user and their rights: try again",
  remedy: "See the log of endpoint-proxy. It needs the rights of ClusterRole system:auth-delegator.",
});

export const UnknownCluster = defineError({
  code: "EK_PROXY_UNKNOWN_CLUSTER",
  recovery: "terminal",
  message: "cluster {cluster} not found: kubectl get clusterscores -A lists the clusters",
  remedy: "The name in /clusters/<name>/ is that of a ClusterScore.",
});

export const Loop = defineError({
  code: "EK_PROXY_LOOP",
  recovery: "terminal",
  message: "the request came through an endpoint-proxy already and is not sent on: {fault}",
  remedy: "spec.endpoint of a peer's ClusterScore must be its port for peers (PORT2), and never this cluster's.",
});

export const Duplicate = defineError({
  code: "EK_PROXY_DUPLICATE",
  recovery: "terminal",
  message: "cluster {cluster} is this cluster itself or is listed twice, so it takes no part: delete its ClusterScore",
  remedy: "See condition Duplicate of the ClusterScore.",
});

export const NotStarted = defineError({
  code: "EK_PROXY_NOT_STARTED",
  recovery: "retryable",
  message: "endpoint-proxy has not started: the own ClusterScore does not exist yet: try again",
  remedy: "Until the leader has made the own ClusterScore, the clusters are not known. See the log of endpoint-proxy.",
});

export const MemberUnreachable = defineError({
  code: "EK_PROXY_MEMBER_UNREACHABLE",
  recovery: "retryable",
  message: "cluster {cluster} does not respond ({fault}): try again, or see condition Reachable of its ClusterScore",
  remedy: "Check spec.endpoint of the ClusterScore, the network between the clusters and the certificates of both.",
});

export const NoAuthority = defineError({
  code: "EK_PROXY_NO_AUTHORITY",
  recovery: "terminal",
  message: "the server of cluster {cluster} cannot be verified: add its authority to the Secret of peers' authorities",
  remedy: "The Secret that --peer-authorities mounts needs an entry whose key is the name of the peer's ClusterScore.",
});

export const OriginalPeer = defineError({
  code: "EK_PROXY_ORIGINAL_PEER",
  recovery: "terminal",
  message: "cluster {cluster} runs the original wao-endpoint-proxy, which does not check users: only scores are read",
  remedy: "Install endpoint-proxy there to reach the cluster through this one.",
});

export const OnlyScores = defineError({
  code: "EK_PROXY_ONLY_SCORES",
  recovery: "terminal",
  message: "BASIC_AUTH_USERNAME may only read ClusterScores here",
  remedy: "Use a client certificate, or name a user for these requests with --basic-auth-user.",
});

export const TooManyRequests = defineError({
  code: "EK_PROXY_TOO_MANY_REQUESTS",
  recovery: "retryable",
  message: "too many {what} are in flight: try again in {seconds} s",
  remedy: "The limits are --max-reads, --max-writes and --max-held-bytes, for each replica.",
});

export const BodyTooLarge = defineError({
  code: "EK_PROXY_BODY_TOO_LARGE",
  recovery: "terminal",
  message: "the request's body is larger than {limit} bytes, which is the limit of the Kubernetes API",
  remedy: "Split the object, or store large data outside of the API server.",
});

export const BadPath = defineError({
  code: "EK_PROXY_BAD_PATH",
  recovery: "terminal",
  message: "the path is not one of the Kubernetes API: {fault}",
  remedy: "Paths have no empty, . or .. segments and no escapes that are not UTF-8.",
});

export const AnswerTooLarge = defineError({
  code: "EK_PROXY_ANSWER_TOO_LARGE",
  recovery: "terminal",
  message: "the answer of cluster {cluster} is larger than {limit} bytes",
  remedy: "Ask for less at once, for example with a selector or a smaller page.",
});
