{{/* It puts no finalizer on anything. */}}
{{- define "eviction-planner.finalizers" -}}
{{- end }}
