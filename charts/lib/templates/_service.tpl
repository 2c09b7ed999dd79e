{{/*
All objects of a service. A service that takes requests of others sets `traffic` in its context: `ports` (`name`, `port`
of the pod, and `servicePort` where the Service has another), optionally a `range` of further ports of the pod (`first`,
`last`), `arguments` for the program, `node` for Node and `own` (`admin`, `health`, `grpc`), the pod's own ports if they
are not the usual ones. One that computes for seconds sets `favourSpeed`. One that reads further Secrets sets `secrets`:
a list of `name` (of the volume), `secret`, `path` (where it is mounted) and `optional`, with which the pod starts
without the Secret. Files change in the running pod when the Secret does.
*/}}
{{- define "evenkeel-lib.service" -}}
{{- if and .Values.tls.mtls (not (or .Values.tls.existingSecret .Values.tls.certManager.issuer)) }}
{{- fail "tls.mtls needs tls.existingSecret or tls.certManager.issuer: clients need certificates of a CA that you keep" }}
{{- end }}
{{- if and .Values.tls.admin (not .Values.tls.enabled) }}
{{- fail "tls.admin needs tls.enabled: the admin port serves the same certificate as gRPC" }}
{{- end }}
{{- range list "crds" "serviceAccount" "rights" "secondAccount" "userRoles" "certificate" "volumeClaim" "deployment" "disruptionBudget" "networkService" "networkPolicy" "ingress" "serviceMonitor" "prometheusRule" "board" "test" "release" "cleanup" }}
{{- with include (printf "evenkeel-lib.%s" .) $ | trim }}
---
{{ . }}
{{- end }}
{{- end }}
{{- end }}
