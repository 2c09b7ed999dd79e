{{- define "evenkeel-lib.networkService" -}}
apiVersion: v1
kind: Service
{{ include "evenkeel-lib.metadata" . }}
  {{- with .Values.service.annotations }}
  annotations: {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  type: {{ .Values.service.type }}
  ipFamilyPolicy: {{ .Values.service.ipFamilyPolicy }}
  selector: {{- include "evenkeel-lib.selector" . | nindent 4 }}
  ports:
    - { name: admin, port: 8080, targetPort: admin }
    - { name: grpc, port: 9090, targetPort: grpc }
    {{- with .traffic }}
    - { name: requests, port: {{ .servicePort }}, targetPort: requests }
    {{- end }}
{{- end }}

{{/*
Admin and gRPC are open to `networkPolicy.from` or to everyone, the health port and those for traffic to everyone, and no others; what the service calls is not limited.
*/}}
{{- define "evenkeel-lib.networkPolicy" -}}
{{- if .Values.networkPolicy.enabled -}}
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
{{ include "evenkeel-lib.metadata" . }}
spec:
  podSelector:
    matchLabels: {{- include "evenkeel-lib.selector" . | nindent 6 }}
  policyTypes: [Ingress]
  ingress:
    - ports:
        - { port: admin }
        - { port: grpc }
      {{- with .Values.networkPolicy.from }}
      from: {{- toYaml . | nindent 8 }}
      {{- end }}
    - ports:
        - { port: health }
    {{- with .traffic }}
    - ports:
        - { port: requests }
        - { port: {{ .range.first }}, endPort: {{ .range.last }} }
    {{- end }}
{{- end }}
{{- end }}
