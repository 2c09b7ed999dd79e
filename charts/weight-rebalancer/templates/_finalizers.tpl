{{- define "weight-rebalancer.finalizers" -}}
- group: rebalancer.ch1aki.github.io
  version: v1
  resource: rebalances
  finalizer: evenkeel.io/revert-weight
{{- end }}
