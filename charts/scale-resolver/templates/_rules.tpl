{{- define "scale-resolver.rules.objects" -}}
- apiGroups: [events.k8s.io]
  resources: [events]
  verbs: [create, patch]
{{- end }}

{{- define "scale-resolver.rules.own" -}}
{{- if .Values.settings.leaderElect -}}
- apiGroups: [coordination.k8s.io]
  resources: [leases]
  verbs: [create]
- apiGroups: [coordination.k8s.io]
  resources: [leases]
  resourceNames: [scale-resolver]
  verbs: [get, update]
{{- end }}
{{- end }}

{{- define "scale-resolver.rules.cluster" -}}
# Who asks for what the dashboard does, and may they?
- apiGroups: [authentication.k8s.io]
  resources: [tokenreviews]
  verbs: [create]
- apiGroups: [authorization.k8s.io]
  resources: [subjectaccessreviews]
  verbs: [create]
{{- end }}

{{/* It puts none on anything. */}}
{{- define "scale-resolver.finalizers" -}}
{{- end }}
