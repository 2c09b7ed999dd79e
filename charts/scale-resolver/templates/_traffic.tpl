{{/* The port that everybody may send requests to, those that are given to Services, where the replicas find each other, and what is not said unless it is set. */}}
{{- define "scale-resolver.traffic" -}}
{{- $range := splitList "-" .Values.settings.portRange -}}
port: {{ .Values.settings.port }}
# Routes that `switch` names are led there, whatever `settings.port` is.
servicePort: 8012
range:
  first: {{ first $range }}
  last: {{ last $range }}
arguments:
  - --resolver-service={{ include "evenkeel-lib.name" . }}
  {{- with .Values.prometheus.address }}
  - --prometheus-address={{ . }}
  {{- end }}
  {{- with .Values.keda.authentication }}
  - --keda-authentication={{ . }}
  {{- end }}
{{- end }}
