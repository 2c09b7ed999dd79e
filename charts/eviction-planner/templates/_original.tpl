{{/* Sets the values of charts/lib from those that the original's chart has under other names. */}}
{{- define "eviction-planner.originalValues" -}}
{{- $values := .Values -}}
{{- if not (kindIs "invalid" $values.replicaCount) }}{{ $_ := set $values "replicas" $values.replicaCount }}{{ end }}
{{- if not (kindIs "invalid" $values.leaderElection) }}{{ $_ := set $values.settings "leaderElect" $values.leaderElection }}{{ end }}
{{- if gt (int $values.replicas) 1 }}
{{- if not (include "evenkeel-lib.usesRedis" .) }}
{{- fail "more than one replica needs Redis: set state.redis.url or state.redis.existingSecret" }}
{{- end }}
{{- if not $values.settings.leaderElect }}
{{- fail "more than one replica needs leader election: remove leaderElection and settings.leaderElect" }}
{{- end }}
{{- end }}
{{- with $values.metrics }}
{{- if ne .service.type "ClusterIP" }}{{ $_ := set $values.service "type" .service.type }}{{ end }}
{{- $_ := set $ "adminPort" (int .service.port) }}
{{- with .prometheusAddress }}{{ $_ := set $values.settings "prometheusAddress" . }}{{ end }}
{{- end }}
{{- $_ := set $values.settings "emptydirThresholdGi" (int $values.policy.emptyDirThresholdGi) }}
{{- end }}

{{/*
Metadata of an object of this service's own kinds, by `name` and `namespace`. On the first install the API server does
not know the kinds yet when Helm reads the manifests, so the object is then a hook, which Helm reads after the CRDs are
there. It has Helm's marks of ownership: the next upgrade manages it like any other object of the release.
*/}}
{{- define "eviction-planner.objectMetadata" -}}
metadata:
  name: {{ .name }}
  {{- with .namespace }}
  namespace: {{ . }}
  {{- end }}
  labels: {{- include "evenkeel-lib.labels" .chart | nindent 4 }}
  {{- if not (.chart.Capabilities.APIVersions.Has "rebalancer.dev/v1") }}
  annotations:
    meta.helm.sh/release-name: {{ .chart.Release.Name }}
    meta.helm.sh/release-namespace: {{ .chart.Release.Namespace }}
    helm.sh/hook: post-install,post-upgrade
  {{- end }}
{{- end }}
