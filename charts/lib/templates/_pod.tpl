{{/* What the Pod Security standard "restricted" requires of a pod and of a container. */}}
{{- define "evenkeel-lib.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{- define "evenkeel-lib.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}

{{- define "evenkeel-lib.placement" -}}
{{- with .Values.imagePullSecrets | default (.Values.global).imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- end }}

{{/*
One argument for each setting: `watchNamespaces: [a, b]` is `--watch-namespaces=a,b`. A null or an empty list gives no
argument.
*/}}
{{- define "evenkeel-lib.settings" -}}
{{- range $name, $value := .Values.settings }}
{{- if not (or (kindIs "invalid" $value) (and (kindIs "slice" $value) (empty $value))) }}
{{- $text := kindIs "slice" $value | ternary (join "," ($value | default list)) ($value | toJson | trimAll "\"") }}
- {{ printf "--%s=%s" (regexReplaceAll "([A-Z])" $name "-${1}" | lower) $text | quote }}
{{- end }}
{{- end }}
{{- end }}

{{- define "evenkeel-lib.tlsArguments" -}}
{{- if .Values.tls.enabled }}
- --tls-cert-file=/etc/evenkeel/tls/tls.crt
- --tls-key-file=/etc/evenkeel/tls/tls.key
- --tls-ca-file=/etc/evenkeel/tls/ca.crt
{{- if .Values.tls.mtls }}
- --mtls=true
{{- end }}
{{- if .Values.tls.admin }}
- --admin-tls=true
{{- end }}
{{- else }}
- --insecure=true
{{- end }}
{{- end }}

{{/*
A label, and an annotation for older versions of Istio, of pods that end: without native sidecars, a sidecar keeps such
a pod running, and `helm uninstall` and `helm test` would wait for it.
*/}}
{{- define "evenkeel-lib.noSidecar" -}}
sidecar.istio.io/inject: "false"
{{- end }}
