{{/*
What Helm says after an install or upgrade: how to check the services, and who may connect to their admin ports.
`services` are the contexts of their charts, in order, and `values` says where a user sets `adminNamespaces` and
`adminCidrs`.
*/}}
{{- define "evenkeel-lib.notes" -}}
{{- $release := .chart.Release -}}
{{- $names := list -}}
{{- range .services }}{{ $names = append $names .Chart.Name }}{{ end -}}
Evenkeel {{ .chart.Chart.AppVersion }} is installed in {{ $release.Namespace }}: {{ join ", " $names }}.

Check it:
  helm test {{ $release.Name }} -n {{ $release.Namespace }}
  kubectl evenkeel doctor

Open a dashboard:
{{- range .services }}
  kubectl port-forward -n {{ $release.Namespace }} service/{{ include "evenkeel-lib.name" . }} 8080:admin    # then {{ include "evenkeel-lib.adminScheme" . }}://localhost:8080/dashboard/
{{- end }}

If the cluster enforces NetworkPolicies, the admin ports (metrics, dashboard, API) accept connections only from:
{{- range .services }}
  {{ .Chart.Name }}: {{ include "evenkeel-lib.adminPeers" . }}
{{- end }}
Allow others with these values in {{ .values }}:
  Prometheus or an ingress controller in another namespace   adminNamespaces={monitoring,ingress-nginx}
  kubectl evenkeel, which connects through the API server    adminCidrs={<address of each API server>/32}
                                                             or adminNamespaces={kube-system} if konnectivity-agent runs there

After an uninstall the CRDs and your objects stay.
{{- end }}

{{/* Who may connect to the admin port, as the NetworkPolicy has it. */}}
{{- define "evenkeel-lib.adminPeers" -}}
{{- if .Values.networkPolicy.enabled -}}
{{- $namespaces := include "evenkeel-lib.adminList" (dict "chart" . "list" "adminNamespaces") | fromJsonArray -}}
{{- $addresses := include "evenkeel-lib.adminList" (dict "chart" . "list" "adminCidrs") | fromJsonArray -}}
{{ concat (prepend $namespaces .Release.Namespace | uniq) $addresses | join ", " }}
{{- with .Values.networkPolicy.from }}, networkPolicy.from{{ end }}
{{- else -}}
everyone
{{- end }}
{{- end }}
