{{/*
Everything that a service consists of in a cluster. One that takes requests of others sets `traffic` in its context: `port` for all of them and `servicePort` before it, `range` (`first`, `last`) of
further ports, and `arguments` for the program.
*/}}
{{- define "evenkeel-lib.service" -}}
{{- if and .Values.tls.mtls (not (or .Values.tls.existingSecret .Values.tls.certManager.issuer)) }}
{{- fail "tls.mtls needs tls.existingSecret or tls.certManager.issuer: callers need certificates of an authority that is kept" }}
{{- end }}
{{- range list "crds" "serviceAccount" "rights" "certificate" "deployment" "disruptionBudget" "networkService" "networkPolicy" "serviceMonitor" "prometheusRule" "board" "test" "release" "letGo" }}
{{- with include (printf "evenkeel-lib.%s" .) $ | trim }}
---
{{ . }}
{{- end }}
{{- end }}
{{- end }}
