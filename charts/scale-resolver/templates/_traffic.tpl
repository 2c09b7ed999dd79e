{{/*
The port that everybody may send requests to, those that are given to Services, and what tells the replicas of each other. Without the EndpointSlices of its own
namespace a replica knows none but itself.
*/}}
{{- define "scale-resolver.traffic" -}}
{{- $range := splitList "-" .Values.settings.portRange -}}
port: {{ .Values.settings.port }}
range:
  first: {{ first $range }}
  last: {{ last $range }}
{{- $watched := .Values.settings.watchNamespaces }}
{{- if or (empty $watched) (has .Release.Namespace $watched) }}
arguments:
  - --resolver-service={{ include "evenkeel-lib.name" . }}
{{- end }}
{{- end }}
