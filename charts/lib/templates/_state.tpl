{{/* Not empty if the state is in Redis. */}}
{{- define "evenkeel-lib.usesRedis" -}}
{{ or .Values.state.redis.url .Values.state.redis.existingSecret }}
{{- end }}

{{- define "evenkeel-lib.stateVariable" -}}
- name: EVENKEEL_STATE
{{- with .Values.state.redis }}
{{- if .existingSecret }}
  valueFrom:
    secretKeyRef:
      name: {{ .existingSecret }}
      key: {{ .secretKey }}
{{- else }}
  value: {{ .url | default "sqlite:/var/lib/evenkeel/state.db" | quote }}
{{- end }}
{{- end }}
{{- end }}

{{/*
The claim for the volume that holds the SQLite file; empty if the state is in Redis or need not outlive the pod.
*/}}
{{- define "evenkeel-lib.claim" -}}
{{- if and .Values.persistence.enabled (not (include "evenkeel-lib.usesRedis" .)) -}}
{{ .Values.persistence.existingClaim | default (printf "%s-state" (include "evenkeel-lib.name" .)) }}
{{- end }}
{{- end }}

{{- define "evenkeel-lib.volumeClaim" -}}
{{- $claim := include "evenkeel-lib.claim" . -}}
{{- if and $claim (not .Values.persistence.existingClaim) -}}
apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  name: {{ $claim }}
  namespace: {{ .Release.Namespace }}
  labels: {{- include "evenkeel-lib.labels" . | nindent 4 }}
spec:
  accessModes: [ReadWriteOnce]
  {{- with .Values.persistence.storageClass }}
  storageClassName: {{ . }}
  {{- end }}
  resources:
    requests:
      storage: {{ .Values.persistence.size }}
{{- end }}
{{- end }}
