{{/* It puts no finalizer on anything. */}}
{{- define "collector-scheduler.finalizers" -}}
{{- end }}
