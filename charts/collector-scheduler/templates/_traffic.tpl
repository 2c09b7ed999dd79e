{{/* The port on which collectors ask for their targets. The Service's port is fixed, whatever `settings.targetPort` is. */}}
{{- define "collector-scheduler.traffic" -}}
ports:
  - { name: targets, port: {{ .Values.settings.targetPort }}, servicePort: 8082 }
{{- if not .Values.settings.targetUrl }}
arguments:
  - --target-url={{ ternary "https" "http" .Values.tls.enabled }}://{{ include "evenkeel-lib.name" . }}.{{ .Release.Namespace }}.svc:8082
{{- end }}
{{- end }}
