{{/*
The port for requests that name their Service in a header, the ports that are assigned to Services, and arguments that
are not settings.
*/}}
{{- define "scale-resolver.traffic" -}}
{{- $range := splitList "-" .Values.settings.portRange -}}
# Some ingress controllers send requests of a Service to its numeric targetPort at every endpoint, so also at the
# resolver's. No Service has these.
own: { admin: 21080, health: 21081, grpc: 21090 }
ports:
  # The Service's port is fixed, whatever `settings.port` is: routes that `switch` names send requests to it.
  - { name: requests, port: {{ .Values.settings.port }}, servicePort: 8012 }
range:
  first: {{ first $range }}
  last: {{ last $range }}
node:
  # Room for what requests allocate. With the image's 1 MiB, a burst of held requests is answered a fifth later.
  - --max-semi-space-size=16
arguments:
  - --admin-port=21080
  - --health-port=21081
  - --grpc-port=21090
  - --resolver-grpc-port=9090
  - --resolver-service={{ include "evenkeel-lib.name" . }}
  {{- with .Values.prometheus.address }}
  - --prometheus-address={{ . }}
  {{- end }}
  {{- with .Values.keda.authentication }}
  - --keda-authentication={{ . }}
  {{- end }}
{{- end }}

{{/* Kinds that may be scaled besides those of files/rules.json. */}}
{{- define "scale-resolver.objectRules" -}}
{{- range .Values.scaleTargets }}
- apiGroups: [{{ .apiGroup | quote }}]
  resources: [{{ .resource }}/scale]
  verbs: [get, patch]
{{- end }}
{{- end }}
