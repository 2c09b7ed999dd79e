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
    - { name: admin, port: {{ .adminPort | default 8080 }}, targetPort: admin, appProtocol: {{ include "evenkeel-lib.adminScheme" . }} }
    - { name: grpc, port: 9090, targetPort: grpc }
    {{- range (.traffic).ports }}
    - { name: {{ .name }}, port: {{ .servicePort | default .port }}, targetPort: {{ .name }} }
    {{- end }}
{{- end }}

{{/*
Who may connect to each port. Ports that are not listed are closed; outgoing connections are limited to DNS and
`egress`, unless it is empty.

| port    | open to                                                                                                             |
|---------|---------------------------------------------------------------------------------------------------------------------|
| admin   | pods of the release's namespace, `adminNamespaces` and `adminCidrs` (also those of `global.networkPolicy`), `from`   |
| grpc    | `from`, or everyone if it is empty: TLS and tokens protect it                                                        |
| health  | everyone                                                                                                            |
| traffic | everyone, or `trafficFrom` of a chart that has it                                                                   |
*/}}
{{- define "evenkeel-lib.networkPolicy" -}}
{{- if .Values.networkPolicy.enabled -}}
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
{{ include "evenkeel-lib.metadata" . }}
spec:
  podSelector:
    matchLabels: {{- include "evenkeel-lib.selector" . | nindent 6 }}
  policyTypes: [Ingress{{ if .Values.networkPolicy.egress }}, Egress{{ end }}]
  ingress:
    - ports:
        - { port: admin }
      from:
        - podSelector: {}
        {{- with include "evenkeel-lib.adminList" (dict "chart" . "list" "adminNamespaces") | fromJsonArray }}
        - namespaceSelector:
            matchExpressions:
              - { key: kubernetes.io/metadata.name, operator: In, values: {{ toJson . }} }
        {{- end }}
        {{- range include "evenkeel-lib.adminList" (dict "chart" . "list" "adminCidrs") | fromJsonArray }}
        - ipBlock: { cidr: {{ . | quote }} }
        {{- end }}
        {{- with .Values.networkPolicy.from }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
    - ports:
        - { port: grpc }
      {{- with .Values.networkPolicy.from }}
      from: {{- toYaml . | nindent 8 }}
      {{- end }}
    - ports:
        - { port: health }
    {{- with .traffic }}
    - ports:
        {{- range .ports }}
        - { port: {{ .name }} }
        {{- end }}
        {{- with .range }}
        - { port: {{ .first }}, endPort: {{ .last }} }
        {{- end }}
      {{- with $.Values.networkPolicy.trafficFrom }}
      from: {{- toYaml . | nindent 8 }}
      {{- end }}
    {{- end }}
  {{- with .Values.networkPolicy.egress }}
  egress:
    - ports:
        - { port: 53, protocol: UDP }
        - { port: 53, protocol: TCP }
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}
{{- end }}

{{/*
`adminNamespaces` or `adminCidrs`, by the name in `list`: the chart's own and those for every service, as JSON.
*/}}
{{- define "evenkeel-lib.adminList" -}}
{{- $everywhere := ((.chart.Values.global).networkPolicy) | default dict -}}
{{- concat (index .chart.Values.networkPolicy .list) (index $everywhere .list | default list) | uniq | toJson -}}
{{- end }}

{{/*
Leads from host names to one of the Service's ports: the dashboard and its API unless told otherwise. A chart whose
schema has `hosts` (`host`, `path`) may name several.
*/}}
{{- define "evenkeel-lib.ingress" -}}
{{- with .Values.ingress }}
{{- if .enabled -}}
apiVersion: networking.k8s.io/v1
kind: Ingress
{{ include "evenkeel-lib.metadata" $ }}
  {{- with .annotations }}
  annotations: {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  {{- with .className }}
  ingressClassName: {{ . }}
  {{- end }}
  {{- $port := .port }}
  {{- $hosts := list (dict "host" .host "paths" .paths) }}
  {{- with .hosts }}
  {{- $hosts = list }}
  {{- range . }}{{ $hosts = append $hosts (dict "host" .host "paths" (list (.path | default "/"))) }}{{ end }}
  {{- end }}
  {{- with .tlsSecret }}
  tls:
    - hosts:
        {{- range $hosts }}
        - {{ .host | quote }}
        {{- end }}
      secretName: {{ . }}
  {{- end }}
  rules:
    {{- range $hosts }}
    - host: {{ .host | quote }}
      http:
        paths:
          {{- range .paths }}
          - path: {{ . }}
            pathType: Prefix
            backend:
              service:
                name: {{ include "evenkeel-lib.name" $ }}
                port: { name: {{ $port }} }
          {{- end }}
    {{- end }}
{{- end }}
{{- end }}
{{- end }}
