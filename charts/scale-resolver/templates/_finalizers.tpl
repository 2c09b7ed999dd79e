{{- define "scale-resolver.finalizers" -}}
- group: elasti.truefoundry.com
  version: v1alpha1
  resource: elastiservices
  finalizer: elasti.truefoundry.com/finalizer
  release: evenkeel.io/release
{{- end }}
