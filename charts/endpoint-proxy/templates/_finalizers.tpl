{{/* It puts no finalizer on anything. */}}
{{- define "endpoint-proxy.finalizers" -}}
{{- end }}
