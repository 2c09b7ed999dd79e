{{/*
The port on which collectors ask for their targets, and arguments that are not settings. The Service's port is fixed,
whatever `settings.targetPort` is.
*/}}
{{- define "collector-scheduler.traffic" -}}
{{- $service := printf "%s://%s.%s.svc:8082" (ternary "https" "http" .Values.tls.enabled) (include "evenkeel-lib.name" .) .Release.Namespace -}}
ports:
  - { name: targets, port: {{ .Values.settings.targetPort }}, servicePort: 8082 }
arguments:
  - --target-url={{ .Values.targets.url | default $service }}
  {{- with .Values.discovery.files }}
  - --discovery-files={{ . }}
  {{- end }}
{{- end }}
