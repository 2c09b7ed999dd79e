/** A pod of the size that clusters have (about 2.7 KB of JSON), the same for the same number. */
export function samplePod(number: number): object {
  const app = `app-${number % 200}`;
  const name = `${app}-7c9d8b6f5-${number.toString(36).padStart(5, "0")}`;
  const labels = { app, "pod-template-hash": "7c9d8b6f5", team: `team-${number % 17}`, version: `v${number % 9}` };
  const at = new Date(1_760_000_000_000 + number * 1000).toISOString();
  const condition = (type: string) => ({ type, status: "True", lastProbeTime: null, lastTransitionTime: at });
  const keys = (...names: string[]) => Object.fromEntries(names.map((key) => [`f:${key}`, {}]));
  return {
    metadata: {
      name,
      generateName: `${app}-7c9d8b6f5-`,
      namespace: `namespace-${number % 40}`,
      uid: `00000000-0000-4000-8000-${number.toString(16).padStart(12, "0")}`,
      resourceVersion: String(1_000_000 + number),
      creationTimestamp: at,
      labels,
      annotations: { "prometheus.io/scrape": "true", "prometheus.io/port": "8080" },
      ownerReferences: [
        {
          apiVersion: "apps/v1",
          kind: "ReplicaSet",
          name: `${app}-7c9d8b6f5`,
          uid: `owner-${number % 200}`,
          controller: true,
        },
      ],
      managedFields: ["kube-controller-manager", "kubelet"].map((manager) => ({
        manager,
        operation: "Update",
        apiVersion: "v1",
        time: at,
        fieldsType: "FieldsV1",
        fieldsV1: {
          "f:metadata": {
            "f:labels": keys(".", "app", "pod-template-hash", "team", "version"),
            "f:ownerReferences": keys("."),
          },
          "f:spec": keys(
            "containers",
            "dnsPolicy",
            "enableServiceLinks",
            "restartPolicy",
            "schedulerName",
            "securityContext",
          ),
          "f:status": keys("conditions", "containerStatuses", "hostIP", "phase", "podIP", "podIPs", "startTime"),
        },
      })),
    },
    spec: {
      nodeName: `node-${number % 500}`,
      serviceAccountName: "default",
      restartPolicy: "Always",
      terminationGracePeriodSeconds: 30,
      dnsPolicy: "ClusterFirst",
      schedulerName: "default-scheduler",
      containers: [
        {
          name: "main",
          image: `images.invalid/${app}:v${number % 9}`,
          ports: [{ name: "http", containerPort: 8080, protocol: "TCP" }],
          env: [{ name: "APP", value: app }],
          resources: { requests: { cpu: "100m", memory: "128Mi" }, limits: { memory: "256Mi" } },
          volumeMounts: [{ name: "token", readOnly: true, mountPath: "/var/run/secrets/kubernetes.io/serviceaccount" }],
          imagePullPolicy: "IfNotPresent",
        },
      ],
      volumes: [
        { name: "token", projected: { defaultMode: 420, sources: [{ serviceAccountToken: { path: "token" } }] } },
      ],
      tolerations: [
        { key: "node.kubernetes.io/not-ready", operator: "Exists", effect: "NoExecute", tolerationSeconds: 300 },
      ],
    },
    status: {
      phase: "Running",
      startTime: at,
      hostIP: `10.0.${number % 250}.1`,
      podIP: `10.1.${Math.floor(number / 250) % 250}.${number % 250}`,
      conditions: ["Initialized", "Ready", "ContainersReady", "PodScheduled"].map(condition),
      containerStatuses: [
        { name: "main", ready: true, started: true, restartCount: 0, state: { running: { startedAt: at } } },
      ],
    },
  };
}
