{{/*
ClusterRoles `…-view` and `…-edit` for the kinds of files/crds. Their labels add them to the cluster roles view, edit
and admin, so that users with these roles in a namespace have the same rights on the objects of this service there.
*/}}
{{- define "evenkeel-lib.userRoles" -}}
{{- $kinds := list -}}
{{- range $path, $_ := .Files.Glob "files/crds/*.yaml" }}
{{- $kinds = append $kinds ($.Files.Get $path | fromYaml).spec -}}
{{- end }}
{{- if and .Values.rbac.create .Values.rbac.userRoles $kinds -}}
{{- include "evenkeel-lib.userRole" (dict "chart" . "kinds" $kinds "what" "view" "addTo" (list "view" "edit" "admin") "verbs" (list "get" "list" "watch")) }}
---
{{ include "evenkeel-lib.userRole" (dict "chart" . "kinds" $kinds "what" "edit" "addTo" (list "edit" "admin") "verbs" (list "create" "update" "patch" "delete" "deletecollection")) }}
{{- end }}
{{- end }}

{{- define "evenkeel-lib.userRole" -}}
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: {{ include "evenkeel-lib.clusterName" .chart }}-{{ .what }}
  labels: {{- include "evenkeel-lib.labels" .chart | nindent 4 }}
    app.kubernetes.io/component: user-roles
    {{- range .addTo }}
    rbac.authorization.k8s.io/aggregate-to-{{ . }}: "true"
    {{- end }}
rules:
  {{- $verbs := .verbs }}
  {{- range .kinds }}
  - apiGroups: [{{ .group }}]
    resources: [{{ .names.plural }}]
    verbs: {{ toJson $verbs }}
  {{- end }}
{{- end }}
