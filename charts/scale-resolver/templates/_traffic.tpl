{{/* The port that everybody may send requests to, those that are given to Services, and where the replicas find each other. */}}
{{- define "scale-resolver.traffic" -}}
{{- $range := splitList "-" .Values.settings.portRange -}}
port: {{ .Values.settings.port }}
range:
  first: {{ first $range }}
  last: {{ last $range }}
arguments:
  - --resolver-service={{ include "evenkeel-lib.name" . }}
{{- end }}
