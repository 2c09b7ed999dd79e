import { CLUSTER_DNS_IP, CLUSTER_DOMAIN } from "../component-flags.ts";
import { COREDNS_IMAGE } from "./node-images.ts";

/** Responses are not cached, and clients may keep them for a second, so that tests see changes at once. */
const COREFILE = `.:53 {
  errors
  ready
  kubernetes ${CLUSTER_DOMAIN} in-addr.arpa ip6.arpa {
    pods insecure
    ttl 1
  }
}
`;

const NAMESPACE = "kube-system";
const DNS_NAME = "coredns";
const DEPLOYMENTS = `/apis/apps/v1/namespaces/${NAMESPACE}/deployments`;

/** Path of the Deployment. Its status shows whether names are resolved. */
export const DNS_PATH = `${DEPLOYMENTS}/${DNS_NAME}`;

const LABELS = { "k8s-app": "kube-dns" };

/** Objects of the cluster's DNS server, each with the path of its collection. */
export function clusterDns(): readonly { readonly path: string; readonly body: object }[] {
  const inNamespace = { name: DNS_NAME, namespace: NAMESPACE };
  const role = { name: "system:coredns" };
  const watched = [
    { apiGroups: [""], resources: ["namespaces", "pods", "services"], verbs: ["list", "watch"] },
    { apiGroups: ["discovery.k8s.io"], resources: ["endpointslices"], verbs: ["list", "watch"] },
  ];
  const core = `/api/v1/namespaces/${NAMESPACE}`;
  const rbac = "/apis/rbac.authorization.k8s.io/v1";
  return [
    { path: `${core}/serviceaccounts`, body: { metadata: inNamespace } },
    { path: `${rbac}/clusterroles`, body: { metadata: role, rules: watched } },
    {
      path: `${rbac}/clusterrolebindings`,
      body: {
        metadata: role,
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: role.name },
        subjects: [{ kind: "ServiceAccount", ...inNamespace }],
      },
    },
    { path: `${core}/configmaps`, body: { metadata: inNamespace, data: { Corefile: COREFILE } } },
    {
      path: `${core}/services`,
      body: {
        metadata: { name: "kube-dns", namespace: NAMESPACE },
        spec: {
          clusterIP: CLUSTER_DNS_IP,
          selector: LABELS,
          ports: [
            { name: "dns", port: 53, protocol: "UDP" },
            { name: "dns-tcp", port: 53, protocol: "TCP" },
          ],
        },
      },
    },
    { path: DEPLOYMENTS, body: { metadata: inNamespace, spec: deployment() } },
  ];
}

function deployment(): object {
  const container = {
    name: DNS_NAME,
    image: COREDNS_IMAGE,
    imagePullPolicy: "Never",
    args: ["-conf", "/etc/coredns/Corefile"],
    volumeMounts: [{ name: "configuration", mountPath: "/etc/coredns" }],
    readinessProbe: { httpGet: { path: "/ready", port: 8181 }, periodSeconds: 1 },
  };
  const spec = {
    serviceAccountName: DNS_NAME,
    dnsPolicy: "Default",
    priorityClassName: "system-cluster-critical",
    containers: [container],
    volumes: [{ name: "configuration", configMap: { name: DNS_NAME } }],
  };
  return { selector: { matchLabels: LABELS }, template: { metadata: { labels: LABELS }, spec } };
}
