import { operatorSettings, originalLeaseSetting } from "@evenkeel/operator";
import { setting } from "@evenkeel/runtime";

/** Every flag and environment variable of endpoint-proxy. */
export const settings = {
  ...operatorSettings({ kind: "ClusterScores", workers: 64 }),
  ...originalLeaseSetting("2bea73aa.bitmedia.co.jp", "the original wao-endpoint-proxy"),
  leaseNamespace: setting.text({
    default: "wao-system",
    env: ["POD_NAMESPACE", "MY_POD_NAMESPACE"],
    help: "Namespace of the Lease",
  }),
  watchNamespaces: setting.list({
    default: "wao-system",
    env: ["MY_POD_NAMESPACE", "POD_NAMESPACE"],
    help: "The one namespace of the ClusterScores",
  }),

  // Scores.
  fetchInterval: setting.interval({
    default: "30",
    env: ["FETCH_INTERVAL"],
    help: "Interval for computing the own score and reading peers' scores; a score older than three intervals is not used",
  }),
  scoreSource: setting.choice(
    "auto",
    "watts",
    "capacity",
  )({ default: "auto", help: "What the own cluster is scored by; auto: watts if it has NodeConfigs of WAO" }),
  clusterName: setting.text({
    optional: true,
    help: "Name of the own ClusterScore if the nodes have no region label; from the cluster's uid unless set",
  }),
  ownEndpoint: setting.url({
    optional: true,
    help: "URL in the own ClusterScore; the API server's as this process reaches it unless set",
  }),
  predictorInsecure: setting.boolean({
    default: "false",
    help: "Do not verify the certificates of WAO's predictors and Redfish servers",
  }),

  // Copies in other clusters.
  labelKey: setting.text({
    default: "wao-endpoint-proxy",
    env: ["LABEL_KEY"],
    help: "Label that is set on what this program writes to clusters",
  }),
  labelValueMyDomain: setting.text({
    default: "local",
    env: ["LABEL_VALUE_MY_DOMAIN"],
    help: "Value of that label in the own cluster; in other clusters it is their region",
  }),
  sayPlacement: setting.boolean({
    default: "true",
    help: "Tell clients in a Warning header in which clusters the replicas of their write are",
  }),

  followReferences: setting.boolean({
    default: "false",
    help: "Copy the ConfigMaps, Secrets, ServiceAccounts and claims that a workload names to the clusters where its pods are, with the user's rights; the annotation evenkeel.io/follow of a workload overrides it",
  }),

  // Listeners.
  port1: setting.port({ default: "18080", env: ["PORT1"], help: "Port for users, HTTPS" }),
  port2: setting.port({ default: "18081", env: ["PORT2"], help: "Port for the proxies of other clusters, HTTPS" }),
  certificateDirectory: setting.text({
    default: "/etc/waoendpointproxy/pki",
    help: "Directory with tls.crt and tls.key of both ports, which are also the client certificate towards peers; read again when renewed",
  }),
  peerAuthorities: setting.text({
    default: "/etc/waoendpointproxy/peers",
    help: "Directory with the certificate authorities of peers, one file for each peer, named like its ClusterScore; read again when changed",
  }),
  peerNames: setting.list({
    default: "wao-endpoint-proxy",
    help: "Common names that the client certificate of a peer may have",
  }),
  trustedPeers: setting.list({
    default: "",
    help: "Peers whose users may be members of system:masters and of the groups in --peer-dropped-groups here",
  }),
  peerDroppedGroups: setting.list({
    default: "kubeadm:cluster-admins",
    help: "Groups that users of other peers lose, as well as those that start with system:",
  }),
  clientCaFile: setting.text({
    optional: true,
    help: "Certificate authority of users; unless set, that of ConfigMap kube-system/extension-apiserver-authentication",
  }),
  impersonator: setting.text({
    default: "endpoint-proxy-impersonator",
    help: "ServiceAccount that may impersonate and nothing else, in the namespace of the Lease",
  }),
  impersonatorRenewal: setting.duration({
    default: "48m",
    help: "Age at which its token, valid for an hour, is replaced by another one",
  }),
  basicAuthUsername: setting.text({
    optional: true,
    env: ["BASIC_AUTH_USERNAME"],
    help: "User name that the original sends to PORT2, and that it is sent; none unless set",
  }),
  basicAuthPassword: setting.text({
    optional: true,
    secret: true,
    env: ["BASIC_AUTH_PASSWORD"],
    help: "Password of that user name",
  }),
  basicAuthUser: setting.text({
    optional: true,
    help: "User that requests with that password act as; unless set they may read ClusterScores alone",
  }),

  // Limits.
  maxReads: setting.integer(1, 100_000)({ default: "400", help: "Reads in progress at once, watches not counted" }),
  maxWrites: setting.integer(1, 100_000)({ default: "200", help: "Writes in progress at once" }),
  maxHeldBytes: setting.bytes({
    default: "64Mi",
    help: "Bytes of bodies that are read whole before they are sent to members, of all requests together; more get 429",
  }),
  maxHeadBytes: setting.bytes({ default: "64Ki", help: "Largest head of a request; larger ones get 431" }),
  headTimeout: setting.duration({ default: "10s", help: "Time in which the head of a request must arrive" }),
  bodyTimeout: setting.duration({
    default: "30s",
    help: "Time without a byte after which the body of a request or of a member's answer is given up",
  }),
  memberDeadline: setting.duration({
    default: "10s",
    help: "Time in which a member must answer. A write has at least 35s, because webhooks may take 30s",
  }),
};
