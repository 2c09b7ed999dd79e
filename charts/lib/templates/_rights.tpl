{{- define "evenkeel-lib.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ include "evenkeel-lib.serviceAccountName" . }}
  namespace: {{ .Release.Namespace }}
  labels: {{- include "evenkeel-lib.labels" . | nindent 4 }}
  {{- with .Values.serviceAccount.annotations }}
  annotations: {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}
{{- end }}

{{/*
An account in addition to the service's own, for rights that the service must not have itself. A service sets
`secondAccount` in its context: `name`, which follows that of the service, and `rules` for the whole cluster. The
service may request tokens for it (TokenRequest), and no pod mounts one.
*/}}
{{- define "evenkeel-lib.secondAccount" -}}
{{- with .secondAccount -}}
{{- $name := printf "%s-%s" (include "evenkeel-lib.name" $) .name -}}
{{- $tokens := dict "apiGroups" (list "") "resources" (list "serviceaccounts/token") "resourceNames" (list $name) "verbs" (list "create") -}}
{{- if $.Values.serviceAccount.create -}}
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ $name }}
  namespace: {{ $.Release.Namespace }}
  labels: {{- include "evenkeel-lib.labels" $ | nindent 4 }}
automountServiceAccountToken: false
{{- end }}
{{- if $.Values.rbac.create }}
---
{{ include "evenkeel-lib.role" (dict "chart" $ "name" $name "namespace" $.Release.Namespace "rules" (list $tokens | toYaml)) }}
---
{{ include "evenkeel-lib.role" (dict "chart" $ "name" (printf "%s-%s" (include "evenkeel-lib.clusterName" $) .name) "namespace" "" "account" $name "rules" (toYaml .rules)) }}
{{- end }}
{{- end }}
{{- end }}

{{/*
A role with `rules`, and its binding to `account`, or to the service's own. Without `namespace` it is a ClusterRole.
*/}}
{{- define "evenkeel-lib.role" -}}
{{- $kind := empty .namespace | ternary "ClusterRole" "Role" -}}
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ $kind }}
metadata:
  name: {{ .name }}
  {{- with .namespace }}
  namespace: {{ . }}
  {{- end }}
  labels: {{- include "evenkeel-lib.labels" .chart | nindent 4 }}
rules: {{- .rules | nindent 2 }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ $kind }}Binding
metadata:
  name: {{ .name }}
  {{- with .namespace }}
  namespace: {{ . }}
  {{- end }}
  labels: {{- include "evenkeel-lib.labels" .chart | nindent 4 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: {{ $kind }}
  name: {{ .name }}
subjects:
  - kind: ServiceAccount
    name: {{ .account | default (include "evenkeel-lib.serviceAccountName" .chart) }}
    namespace: {{ .chart.Release.Namespace }}
{{- end }}

{{/*
The service's rules in one section of files/rules.json, as YAML. `objects`: objects that it manages and reads, in every
namespace or in those of `settings.watchNamespaces`. `own`: its own namespace. `cluster`: what has no namespace.
`kubectl evenkeel doctor` checks the same file.

A rule has `why`, for people; `when`, a value that must be true; and `resourceNamesFrom`, values that hold the names,
each possibly after a namespace and a slash. A service adds rules that depend on other values as `objectRules` in its
context.
*/}}
{{- define "evenkeel-lib.rules" -}}
{{- $chart := .chart -}}
{{- $rules := list -}}
{{- range index ($chart.Files.Get "files/rules.json" | fromJson) .section }}
{{- if or (not .when) (include "evenkeel-lib.value" (dict "chart" $chart "path" .when)) }}
{{- $names := .resourceNames }}
{{- range .resourceNamesFrom }}
{{- $names = append ($names | default list) (include "evenkeel-lib.value" (dict "chart" $chart "path" .) | splitList "/" | last) }}
{{- end }}
{{- $rules = append $rules (merge (pick . "apiGroups" "resources" "verbs") (empty $names | ternary dict (dict "resourceNames" $names))) }}
{{- end }}
{{- end }}
{{- if eq .section "objects" }}{{ $rules = concat $rules ($chart.objectRules | default list) }}{{ end }}
{{- with $rules }}{{ toYaml . }}{{ end }}
{{- end }}

{{/* The value at a path such as `settings.originalLease`; empty if it is false. */}}
{{- define "evenkeel-lib.value" -}}
{{- $value := .chart.Values -}}
{{- range splitList "." .path }}{{ $value = index $value . }}{{ end -}}
{{- with $value }}{{ . }}{{ end }}
{{- end }}

{{- define "evenkeel-lib.rights" -}}
{{- if .Values.rbac.create -}}
{{- $name := include "evenkeel-lib.name" . -}}
{{- $objects := include "evenkeel-lib.rules" (dict "chart" . "section" "objects") -}}
{{- $cluster := .Values.rbac.clusterScoped | ternary (include "evenkeel-lib.rules" (dict "chart" . "section" "cluster")) "" -}}
{{- $namespaces := .Values.settings.watchNamespaces -}}
{{- with include "evenkeel-lib.rules" (dict "chart" . "section" "own") }}
{{ include "evenkeel-lib.role" (dict "chart" $ "name" $name "namespace" $.Release.Namespace "rules" .) }}
{{- end }}
{{- range $namespaces }}
---
{{ include "evenkeel-lib.role" (dict "chart" $ "name" (printf "%s-objects" $name) "namespace" . "rules" $objects) }}
{{- end }}
{{- with empty $namespaces | ternary (printf "%s\n%s" $objects $cluster | trim) $cluster }}
---
{{ include "evenkeel-lib.role" (dict "chart" $ "name" (include "evenkeel-lib.clusterName" $) "namespace" "" "rules" .) }}
{{- end }}
{{- end }}
{{- end }}
