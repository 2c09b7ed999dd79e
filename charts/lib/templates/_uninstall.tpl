{{/*
Two Jobs keep an uninstall from leaving objects that cannot be deleted. The objects themselves stay.
`<service>.finalizers` lists group, version, resource and finalizer of each kind that the service puts a finalizer on,
and `release`, an annotation that makes the service release an object.

Before anything is removed, the Job `release` sets that annotation and waits until the service has removed its
finalizers. It stops waiting when no pod of the service is left. After the last pod is gone, the Job `cleanup` removes
the finalizers that are left, so that the objects can be deleted, and the annotation, so that a later install finds the
objects as they were, and deletes the service's Lease. Each Job has its own account and rights.
*/}}
{{- define "evenkeel-lib.release" -}}
{{- $finalizers := list -}}
{{- range include (printf "%s.finalizers" .Chart.Name) . | fromYamlArray }}
{{- if .release }}{{ $finalizers = append $finalizers . }}{{ end }}
{{- end -}}
{{- if and .Values.uninstall.releaseObjects $finalizers -}}
{{ include "evenkeel-lib.uninstallJob" (dict "chart" . "what" "release" "hook" "pre-delete" "finalizers" $finalizers "rules" list) }}
{{- end }}
{{- end }}

{{- define "evenkeel-lib.cleanup" -}}
{{- $finalizers := include (printf "%s.finalizers" .Chart.Name) . | fromYamlArray -}}
{{- if .Values.uninstall.releaseObjects -}}
{{- $lease := dict "apiGroups" (list "coordination.k8s.io") "resources" (list "leases") "resourceNames" (list .Chart.Name) "verbs" (list "delete") -}}
{{ include "evenkeel-lib.uninstallJob" (dict "chart" . "what" "cleanup" "hook" "post-delete" "finalizers" $finalizers "rules" (list $lease)) }}
{{- end }}
{{- end }}

{{/* `what` names the Job, its container and its script; `rules` are rights in the release's namespace. */}}
{{- define "evenkeel-lib.uninstallJob" -}}
{{- $chart := .chart -}}
{{- $name := printf "%s-%s" (include "evenkeel-lib.name" $chart) .what -}}
{{- $namespaces := $chart.Values.settings.watchNamespaces | default list -}}
{{- $rules := list -}}
{{- range .finalizers }}
{{- $rules = append $rules (dict "apiGroups" (list .group) "resources" (list .resource) "verbs" (list "list" "patch")) }}
{{- end -}}
{{- $own := prepend .rules (dict "apiGroups" (list "") "resources" (list "pods") "verbs" (list "list")) -}}
{{- $context := dict "chart" $chart "name" $name "hook" .hook -}}
apiVersion: v1
kind: ServiceAccount
metadata: {{- include "evenkeel-lib.uninstallMetadata" (merge (dict "namespace" $chart.Release.Namespace "weight" "-2") $context) | nindent 2 }}
---
{{ include "evenkeel-lib.uninstallRole" (merge (dict "namespace" $chart.Release.Namespace "rules" $own) $context) }}
{{- if $rules }}
{{- range $namespaces }}
---
{{ include "evenkeel-lib.uninstallRole" (merge (dict "namespace" . "name" (printf "%s-objects" $name) "account" $name "rules" $rules) $context) }}
{{- else }}
---
{{ include "evenkeel-lib.uninstallRole" (merge (dict "namespace" "" "name" (printf "%s:%s" $chart.Release.Namespace $name) "account" $name "rules" $rules) $context) }}
{{- end }}
{{- end }}
---
apiVersion: batch/v1
kind: Job
metadata: {{- include "evenkeel-lib.uninstallMetadata" (merge (dict "namespace" $chart.Release.Namespace "weight" "0") $context) | nindent 2 }}
spec:
  backoffLimit: 3
  activeDeadlineSeconds: 240
  template:
    metadata:
      labels:
        app.kubernetes.io/name: {{ $name }}
        app.kubernetes.io/instance: {{ $chart.Release.Name }}
        {{- include "evenkeel-lib.noSidecar" $chart | nindent 8 }}
      annotations: {{- include "evenkeel-lib.noSidecar" $chart | nindent 8 }}
    spec:
      restartPolicy: Never
      serviceAccountName: {{ $name }}
      securityContext: {{- include "evenkeel-lib.podSecurity" $chart | nindent 8 }}
      {{- with include "evenkeel-lib.placement" $chart | trim }}
      {{- . | nindent 6 }}
      {{- end }}
      containers:
        - name: {{ .what }}
          image: {{ include "evenkeel-lib.image" $chart }}
          imagePullPolicy: {{ $chart.Values.image.pullPolicy }}
          env:
            - name: NODE_EXTRA_CA_CERTS
              value: /var/run/secrets/kubernetes.io/serviceaccount/ca.crt
            - name: TOKEN_FILE
              value: /var/run/secrets/kubernetes.io/serviceaccount/token
            - name: NAMESPACE
              value: {{ $chart.Release.Namespace }}
            - name: LEASE
              value: {{ $chart.Chart.Name }}
            - name: PODS
              value: {{ include "evenkeel-lib.selector" $chart | replace ": " "=" | replace "\n" "," }}
            - name: WATCHED
              value: {{ join "," $namespaces | quote }}
            - name: FINALIZERS
              value: {{ .finalizers | toJson | quote }}
          args:
            - --input-type=module
            - --eval
            - {{ printf "%s\n%s" (include "evenkeel-lib.uninstallCalls" $chart) (include (printf "evenkeel-lib.%sScript" .what) $chart) | toJson }}
          resources:
            requests: { cpu: 10m, memory: 64Mi }
            limits: { memory: 256Mi }
          securityContext: {{- include "evenkeel-lib.containerSecurity" $chart | nindent 12 }}
{{- end }}

{{- define "evenkeel-lib.uninstallMetadata" -}}
name: {{ .name }}
{{- with .namespace }}
namespace: {{ . }}
{{- end }}
labels: {{- include "evenkeel-lib.labels" .chart | nindent 2 }}
annotations:
  helm.sh/hook: {{ .hook }}
  helm.sh/hook-weight: {{ .weight | quote }}
  helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
{{- end }}

{{- define "evenkeel-lib.uninstallRole" -}}
{{- $kind := empty .namespace | ternary "ClusterRole" "Role" -}}
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ $kind }}
metadata: {{- include "evenkeel-lib.uninstallMetadata" (merge (dict "weight" "-2") .) | nindent 2 }}
rules: {{- toYaml .rules | nindent 2 }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ $kind }}Binding
metadata: {{- include "evenkeel-lib.uninstallMetadata" (merge (dict "weight" "-1") .) | nindent 2 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: {{ $kind }}
  name: {{ .name }}
subjects:
  - kind: ServiceAccount
    name: {{ .account | default .name }}
    namespace: {{ .chart.Release.Namespace }}
{{- end }}

{{/*
The beginning of both scripts: calls to the API server, and the objects that may have a finalizer of the service.
*/}}
{{- define "evenkeel-lib.uninstallCalls" -}}
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
const pods = () => list(`/api/v1/namespaces/${NAMESPACE}/pods`, { labelSelector: PODS });
const objects = async ({ group, version, resource }) => {
  const base = `/apis/${group}/${version}`;
  const places = WATCHED === "" ? [base] : WATCHED.split(",").map((namespace) => `${base}/namespaces/${namespace}`);
  const found = (await Promise.all(places.map((place) => list(`${place}/${resource}`)))).flat();
  return found.map(({ metadata }) => {
    const { namespace, name } = metadata;
    const path = `${base}${namespace ? `/namespaces/${namespace}` : ""}/${resource}/${name}`;
    return { metadata, path, shown: `${resource} ${namespace}/${name}` };
  });
};
{{- end }}

{{/* It succeeds after its time limit too, so that the uninstall continues. */}}
{{- define "evenkeel-lib.releaseScript" -}}
const end = Date.now() + 150_000;
for (const kind of finalizers) {
  for (;;) {
    const all = await objects(kind);
    for (const { metadata, path } of all) {
      if (metadata.annotations?.[kind.release] === "true") continue;
      await ask(path, "PATCH", { metadata: { annotations: { [kind.release]: "true" } } });
    }
    const left = all.filter(({ metadata }) => metadata.finalizers?.includes(kind.finalizer));
    if (left.length === 0) break;
    const why = Date.now() > end ? "the time limit is over" : (await pods()).length === 0 ? "no pod of the service runs" : "";
    if (why !== "") {
      for (const { shown } of left) console.log(`${shown} was not released: ${why}`);
      break;
    }
    await sleep(1000);
  }
}
{{- end }}

{{- define "evenkeel-lib.cleanupScript" -}}
while ((await pods()).length > 0) await sleep(1000);
await ask(`/apis/coordination.k8s.io/v1/namespaces/${NAMESPACE}/leases/${LEASE}`, "DELETE");

for (const kind of finalizers) {
  const { finalizer, release } = kind;
  for (let left = true; left; ) {
    left = false;
    for (const { metadata, path, shown } of await objects(kind)) {
      const { resourceVersion, finalizers: present = [], annotations = {} } = metadata;
      const isHeld = present.includes(finalizer);
      const isAsked = release !== undefined && annotations[release] !== undefined;
      if (!isHeld && !isAsked) continue;
      const change = {
        resourceVersion,
        ...(isHeld && { finalizers: present.filter((one) => one !== finalizer) }),
        ...(isAsked && { annotations: { [release]: null } }),
      };
      const answer = await ask(path, "PATCH", { metadata: change });
      if (answer.status === 409) left = true;
      else if (isHeld) console.log(`removed ${finalizer} from ${shown}`);
    }
  }
}
{{- end }}
