{{/*
The objects of a service have the name of its chart, whatever the release is called, unless a chart whose schema has
`fullnameOverride` and `nameOverride` is told otherwise. The labels always have the name of the chart: the CLI and
alerts rely on it.
*/}}
{{- define "evenkeel-lib.name" -}}
{{ .Values.fullnameOverride | default .Values.nameOverride | default .Chart.Name }}
{{- end }}

{{/* For objects without a namespace: each release has its own. */}}
{{- define "evenkeel-lib.clusterName" -}}
{{ printf "%s:%s" .Release.Namespace (include "evenkeel-lib.name" .) }}
{{- end }}

{{- define "evenkeel-lib.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "evenkeel-lib.labels" -}}
{{ include "evenkeel-lib.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/part-of: evenkeel
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- with (.Values.global).labels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "evenkeel-lib.metadata" -}}
metadata:
  name: {{ include "evenkeel-lib.name" . }}
  namespace: {{ .Release.Namespace }}
  labels: {{- include "evenkeel-lib.labels" . | nindent 4 }}
{{- end }}

{{- define "evenkeel-lib.serviceAccountName" -}}
{{ .Values.serviceAccount.name | default (include "evenkeel-lib.name" .) }}
{{- end }}

{{- define "evenkeel-lib.image" -}}
{{- $registry := .Values.image.registry | default ((.Values.global).imageRegistry) -}}
{{- $tag := .Values.image.tag | default .Chart.AppVersion -}}
{{- with $registry }}{{ . }}/{{ end }}{{ .Values.image.repository }}
{{- if .Values.image.digest }}@{{ .Values.image.digest }}{{ else }}:{{ $tag }}{{ end }}
{{- end }}

{{/* What the admin port speaks. */}}
{{- define "evenkeel-lib.adminScheme" -}}
{{ .Values.tls.admin | ternary "https" "http" }}
{{- end }}

{{/* The Secret with tls.crt, tls.key and ca.crt. */}}
{{- define "evenkeel-lib.tlsSecret" -}}
{{ .Values.tls.existingSecret | default (printf "%s-tls" (include "evenkeel-lib.name" .)) }}
{{- end }}
