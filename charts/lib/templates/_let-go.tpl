{{/*
After an uninstall nobody is left who takes this service's finalizers off, and every object that has one could never be deleted. So a
Job takes them off once the last pod is gone, and the Lease with them; the objects themselves stay. `<service>.finalizers` lists group, version, resource and
finalizer of each. The Job brings its own account and rights, since those of the service are gone by then.
*/}}
{{- define "evenkeel-lib.letGo" -}}
{{- $name := printf "%s-let-go" (include "evenkeel-lib.name" .) -}}
{{- $finalizers := include (printf "%s.finalizers" (include "evenkeel-lib.name" .)) . | fromYamlArray -}}
{{- if and .Values.uninstall.releaseObjects $finalizers -}}
{{- $namespaces := .Values.settings.watchNamespaces | default list -}}
{{- $rules := list -}}
{{- range $finalizers }}
{{- $rules = append $rules (dict "apiGroups" (list .group) "resources" (list .resource) "verbs" (list "list" "patch")) }}
{{- end -}}
{{- $lease := dict "apiGroups" (list "coordination.k8s.io") "resources" (list "leases") "resourceNames" (list (include "evenkeel-lib.name" .)) "verbs" (list "delete") -}}
{{- $own := list (dict "apiGroups" (list "") "resources" (list "pods") "verbs" (list "list")) $lease -}}
{{- $context := dict "chart" . "name" $name -}}
apiVersion: v1
kind: ServiceAccount
metadata: {{- include "evenkeel-lib.letGoMetadata" (merge (dict "namespace" .Release.Namespace "weight" "-2") $context) | nindent 2 }}
---
{{ include "evenkeel-lib.letGoRole" (merge (dict "namespace" .Release.Namespace "rules" $own) $context) }}
{{- range $namespaces }}
---
{{ include "evenkeel-lib.letGoRole" (merge (dict "namespace" . "name" (printf "%s-objects" $name) "account" $name "rules" $rules) $context) }}
{{- else }}
---
{{ include "evenkeel-lib.letGoRole" (merge (dict "namespace" "" "name" (printf "%s:%s" $.Release.Namespace $name) "account" $name "rules" $rules) $context) }}
{{- end }}
---
apiVersion: batch/v1
kind: Job
metadata: {{- include "evenkeel-lib.letGoMetadata" (merge (dict "namespace" .Release.Namespace "weight" "0") $context) | nindent 2 }}
spec:
  backoffLimit: 3
  activeDeadlineSeconds: 240
  template:
    metadata:
      labels:
        app.kubernetes.io/name: {{ $name }}
        app.kubernetes.io/instance: {{ .Release.Name }}
    spec:
      restartPolicy: Never
      serviceAccountName: {{ $name }}
      securityContext: {{- include "evenkeel-lib.podSecurity" . | nindent 8 }}
      {{- with include "evenkeel-lib.placement" . | trim }}
      {{- . | nindent 6 }}
      {{- end }}
      containers:
        - name: let-go
          image: {{ include "evenkeel-lib.image" . }}
          imagePullPolicy: {{ .Values.image.pullPolicy }}
          env:
            - name: NODE_EXTRA_CA_CERTS
              value: /var/run/secrets/kubernetes.io/serviceaccount/ca.crt
            - name: TOKEN_FILE
              value: /var/run/secrets/kubernetes.io/serviceaccount/token
            - name: NAMESPACE
              value: {{ .Release.Namespace }}
            - name: LEASE
              value: {{ include "evenkeel-lib.name" . }}
            - name: PODS
              value: {{ include "evenkeel-lib.selector" . | replace ": " "=" | replace "\n" "," }}
            - name: WATCHED
              value: {{ join "," $namespaces | quote }}
            - name: FINALIZERS
              value: {{ $finalizers | toJson | quote }}
          args:
            - --input-type=module
            - --eval
            - {{ include "evenkeel-lib.letGoScript" . | toJson }}
          resources:
            requests: { cpu: 10m, memory: 64Mi }
            limits: { memory: 256Mi }
          securityContext: {{- include "evenkeel-lib.containerSecurity" . | nindent 12 }}
{{- end }}
{{- end }}

{{- define "evenkeel-lib.letGoMetadata" -}}
name: {{ .name }}
{{- with .namespace }}
namespace: {{ . }}
{{- end }}
labels: {{- include "evenkeel-lib.labels" .chart | nindent 2 }}
annotations:
  helm.sh/hook: post-delete
  helm.sh/hook-weight: {{ .weight | quote }}
  helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
{{- end }}

{{- define "evenkeel-lib.letGoRole" -}}
{{- $kind := empty .namespace | ternary "ClusterRole" "Role" -}}
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ $kind }}
metadata: {{- include "evenkeel-lib.letGoMetadata" (merge (dict "weight" "-2") .) | nindent 2 }}
rules: {{- toYaml .rules | nindent 2 }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ $kind }}Binding
metadata: {{- include "evenkeel-lib.letGoMetadata" (merge (dict "weight" "-1") .) | nindent 2 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: {{ $kind }}
  name: {{ .name }}
subjects:
  - kind: ServiceAccount
    name: {{ .account | default .name }}
    namespace: {{ .chart.Release.Namespace }}
{{- end }}

{{- define "evenkeel-lib.letGoScript" -}}
import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port, TOKEN_FILE } = process.env;
const { NAMESPACE, LEASE, PODS, WATCHED } = process.env;
const finalizers = JSON.parse(process.env.FINALIZERS);
const server = `https://${host.includes(":") ? `[${host}]` : host}:${port}`;
const ask = async (path, method = "GET", patch) => {
  const headers = { authorization: `Bearer ${await readFile(TOKEN_FILE, "utf8")}`, "content-type": "application/merge-patch+json" };
  const body = patch && JSON.stringify(patch);
  const answer = await fetch(server + path, { method, headers, body, signal: AbortSignal.timeout(30_000) });
  if (answer.ok || answer.status === 404 || answer.status === 409) return answer;
  throw new Error(`${method} ${path} answers ${answer.status}: ${await answer.text()}`);
};
const list = async (path, query = {}) => {
  const items = [];
  for (let next; next !== ""; ) {
    const answer = await ask(`${path}?${new URLSearchParams({ limit: "500", ...query, ...(next && { continue: next }) })}`);
    if (answer.status === 404) return [];
    const page = await answer.json();
    items.push(...page.items);
    next = page.metadata.continue ?? "";
  }
  return items;
};

while ((await list(`/api/v1/namespaces/${NAMESPACE}/pods`, { labelSelector: PODS })).length > 0) await sleep(1000);
await ask(`/apis/coordination.k8s.io/v1/namespaces/${NAMESPACE}/leases/${LEASE}`, "DELETE");

for (const { group, version, resource, finalizer } of finalizers) {
  const base = `/apis/${group}/${version}`;
  const places = WATCHED === "" ? [base] : WATCHED.split(",").map((namespace) => `${base}/namespaces/${namespace}`);
  for (let left = true; left; ) {
    left = false;
    for (const place of places) {
      for (const { metadata } of await list(`${place}/${resource}`)) {
        if (!metadata.finalizers?.includes(finalizer)) continue;
        const { name, namespace, resourceVersion } = metadata;
        const remaining = metadata.finalizers.filter((one) => one !== finalizer);
        const path = `${base}${namespace ? `/namespaces/${namespace}` : ""}/${resource}/${name}`;
        const answer = await ask(path, "PATCH", { metadata: { resourceVersion, finalizers: remaining } });
        if (answer.status === 409) left = true;
        else console.log(`${resource} ${namespace}/${name} is let go: ${finalizer} is off`);
      }
    }
  }
}
{{- end }}
