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

{{/* A role with `rules`, and its binding to the service's account. Without `namespace` it is a ClusterRole. */}}
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
    name: {{ include "evenkeel-lib.serviceAccountName" .chart }}
    namespace: {{ .chart.Release.Namespace }}
{{- end }}

{{/*
A service defines its rules under three names: `<service>.rules.objects` for what it looks after, in every namespace or in those of
`settings.watchNamespaces`; `<service>.rules.own` for its own namespace; `<service>.rules.cluster` for what has no namespace.
*/}}
{{- define "evenkeel-lib.rights" -}}
{{- if .Values.rbac.create -}}
{{- $name := include "evenkeel-lib.name" . -}}
{{- $objects := include (printf "%s.rules.objects" $name) . | trim -}}
{{- $cluster := .Values.rbac.clusterScoped | ternary (include (printf "%s.rules.cluster" $name) . | trim) "" -}}
{{- $namespaces := .Values.settings.watchNamespaces -}}
{{- with include (printf "%s.rules.own" $name) . | trim }}
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
