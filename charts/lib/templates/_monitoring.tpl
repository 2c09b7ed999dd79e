{{- define "evenkeel-lib.serviceMonitor" -}}
{{- with .Values.monitoring.serviceMonitor }}
{{- if .enabled -}}
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
{{ include "evenkeel-lib.metadata" $ }}
    {{- with .labels }}{{ toYaml . | nindent 4 }}{{ end }}
spec:
  selector:
    matchLabels: {{- include "evenkeel-lib.selector" $ | nindent 6 }}
  endpoints:
    - port: admin
      path: /metrics
      {{- if $.Values.tls.admin }}
      scheme: https
      tlsConfig:
        ca:
          secret: { name: {{ include "evenkeel-lib.tlsSecret" $ }}, key: ca.crt }
        serverName: {{ include "evenkeel-lib.name" $ }}.{{ $.Release.Namespace }}.svc
      {{- end }}
      # `namespace` and `name` are those of the object that a metric is about.
      honorLabels: true
      interval: {{ .interval }}
{{- end }}
{{- end }}
{{- end }}

{{/* The alerts of files/alerts.yaml, as infra/prometheus has them. */}}
{{- define "evenkeel-lib.prometheusRule" -}}
{{- with .Values.monitoring.rules }}
{{- if .enabled -}}
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
{{ include "evenkeel-lib.metadata" $ }}
    {{- with .labels }}{{ toYaml . | nindent 4 }}{{ end }}
spec: {{- $.Files.Get "files/alerts.yaml" | nindent 2 }}
{{- end }}
{{- end }}
{{- end }}

{{- define "evenkeel-lib.board" -}}
{{- with .Values.monitoring.board }}
{{- if .enabled -}}
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ include "evenkeel-lib.name" $ }}-board
  namespace: {{ $.Release.Namespace }}
  labels: {{- include "evenkeel-lib.labels" $ | nindent 4 }}
    {{- with .labels }}{{ toYaml . | nindent 4 }}{{ end }}
data:
  {{ include "evenkeel-lib.name" $ }}.json: {{ $.Files.Get "files/board.json" | toJson }}
{{- end }}
{{- end }}
{{- end }}
