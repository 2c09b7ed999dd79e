{{- define "weight-rebalancer.rules.objects" -}}
- apiGroups: [rebalancer.ch1aki.github.io]
  resources: [rebalances]
  verbs: [get, list, watch, patch]
- apiGroups: [rebalancer.ch1aki.github.io]
  resources: [rebalances/status]
  verbs: [patch]
- apiGroups: [gateway.networking.k8s.io]
  resources: [httproutes]
  verbs: [get, patch]
# Those that a Rebalance names, read one by one.
- apiGroups: [""]
  resources: [secrets]
  verbs: [get]
- apiGroups: [events.k8s.io]
  resources: [events]
  verbs: [create, patch]
{{- end }}

{{- define "weight-rebalancer.rules.own" -}}
{{- if .Values.settings.leaderElect -}}
- apiGroups: [coordination.k8s.io]
  resources: [leases]
  verbs: [create]
- apiGroups: [coordination.k8s.io]
  resources: [leases]
  resourceNames: [weight-rebalancer]
  verbs: [get, update]
{{- end }}
{{- end }}

{{- define "weight-rebalancer.rules.cluster" -}}
# Is the original at work, wherever it was installed?
- apiGroups: [coordination.k8s.io]
  resources: [leases]
  resourceNames: [{{ .Values.settings.originalLease }}]
  verbs: [list]
# Who asks for pause and resume, and may they?
- apiGroups: [authentication.k8s.io]
  resources: [tokenreviews]
  verbs: [create]
- apiGroups: [authorization.k8s.io]
  resources: [subjectaccessreviews]
  verbs: [create]
{{- end }}

{{- define "weight-rebalancer.finalizers" -}}
- group: rebalancer.ch1aki.github.io
  version: v1
  resource: rebalances
  finalizer: evenkeel.io/revert-weight
{{- end }}
