{{- define "scale-resolver.rules.objects" -}}
# Created and deleted are those that one with a selector asks for.
- apiGroups: [elasti.truefoundry.com]
  resources: [elastiservices]
  verbs: [get, list, watch, create, patch, delete]
- apiGroups: [elasti.truefoundry.com]
  resources: [elastiservices/status]
  verbs: [patch]
- apiGroups: [""]
  resources: [services]
  verbs: [list, watch{{ if .Values.takeOver.enabled }}, delete{{ end }}]
- apiGroups: [discovery.k8s.io]
  resources: [endpointslices]
  verbs: [get, list, watch, create, update, delete]
- apiGroups: [apps]
  resources: [deployments/scale, statefulsets/scale]
  verbs: [get, patch]
- apiGroups: [argoproj.io]
  resources: [rollouts/scale]
  verbs: [get, patch]
{{- range .Values.scaleTargets }}
- apiGroups: [{{ .apiGroup | quote }}]
  resources: [{{ .resource }}/scale]
  verbs: [get, patch]
{{- end }}
# Which workload is behind a Service that is selected?
- apiGroups: [apps]
  resources: [deployments, statefulsets]
  verbs: [list]
- apiGroups: [argoproj.io]
  resources: [rollouts]
  verbs: [list]
# KEDA is paused while a workload sleeps, and `autoscaler.create` asks for a ScaledObject.
- apiGroups: [keda.sh]
  resources: [scaledobjects]
  verbs: [create, patch]
# Routes that `switch` names.
- apiGroups: [networking.istio.io]
  resources: [virtualservices]
  verbs: [get, patch]
- apiGroups: [gateway.networking.k8s.io]
  resources: [httproutes]
  verbs: [get, patch]
- apiGroups: [events.k8s.io]
  resources: [events]
  verbs: [create, patch]
{{- end }}

{{- define "scale-resolver.rules.own" -}}
{{- if .Values.settings.leaderElect -}}
- apiGroups: [coordination.k8s.io]
  resources: [leases]
  verbs: [create]
- apiGroups: [coordination.k8s.io]
  resources: [leases]
  resourceNames: [scale-resolver]
  verbs: [get, update]
{{ end -}}
# Which replicas of this service are ready?
- apiGroups: [discovery.k8s.io]
  resources: [endpointslices]
  verbs: [list, watch]
# May HTTPRoutes of other namespaces lead here?
- apiGroups: [gateway.networking.k8s.io]
  resources: [referencegrants]
  verbs: [list]
{{- end }}

{{- define "scale-resolver.rules.cluster" -}}
# Is KubeElasti's operator at work, wherever it was installed?
- apiGroups: [coordination.k8s.io]
  resources: [leases]
  resourceNames: [{{ .Values.settings.originalLease }}]
  verbs: [list]
# Who asks for a wake, a pause or a drain, and may they?
- apiGroups: [authentication.k8s.io]
  resources: [tokenreviews]
  verbs: [create]
- apiGroups: [authorization.k8s.io]
  resources: [subjectaccessreviews]
  verbs: [create]
{{- end }}

{{- define "scale-resolver.finalizers" -}}
- group: elasti.truefoundry.com
  version: v1alpha1
  resource: elastiservices
  finalizer: elasti.truefoundry.com/finalizer
  release: evenkeel.io/release
{{- end }}
