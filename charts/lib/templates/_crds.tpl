{{/*
The definitions of files/crds, which are generated. As templates they are upgraded with the release, unlike those in
Helm's own crds/ folder, and the annotation keeps them when the release is uninstalled or the service is switched off.
*/}}
{{- define "evenkeel-lib.crds" -}}
{{- if .Values.crds.enabled -}}
{{- range $path, $_ := .Files.Glob "files/crds/*.yaml" }}
---
{{ $.Files.Get $path | replace "\nmetadata:\n" "\nmetadata:\n  annotations:\n    helm.sh/resource-policy: keep\n" }}
{{- end }}
{{- end }}
{{- end }}
