{{/*
The certificate for gRPC, and for the admin port with `tls.admin`: from cert-manager, or created here once and kept over
upgrades as long as the Secret exists. It names localhost too, for `kubectl port-forward`. `helm template` sees no
cluster, so it renders a new one each time.
*/}}
{{- define "evenkeel-lib.certificate" -}}
{{- if and .Values.tls.enabled (not .Values.tls.existingSecret) -}}
{{- $name := include "evenkeel-lib.name" . -}}
{{- $secret := include "evenkeel-lib.tlsSecret" . -}}
{{- $place := printf "%s.%s" $name .Release.Namespace -}}
{{- $names := list $name $place (printf "%s.svc" $place) (printf "%s.svc.cluster.local" $place) "localhost" -}}
{{- if .Values.tls.certManager.issuer -}}
apiVersion: cert-manager.io/v1
kind: Certificate
{{ include "evenkeel-lib.metadata" . }}
spec:
  secretName: {{ $secret }}
  dnsNames: {{- toYaml $names | nindent 4 }}
  usages: [server auth, client auth]
  privateKey:
    algorithm: ECDSA
    size: 256
    rotationPolicy: Always
  issuerRef:
    group: cert-manager.io
    kind: {{ .Values.tls.certManager.issuerKind }}
    name: {{ .Values.tls.certManager.issuer }}
{{- else -}}
{{- $kept := (lookup "v1" "Secret" .Release.Namespace $secret).data -}}
apiVersion: v1
kind: Secret
metadata:
  name: {{ $secret }}
  namespace: {{ .Release.Namespace }}
  labels: {{- include "evenkeel-lib.labels" . | nindent 4 }}
type: kubernetes.io/tls
data:
  {{- if and $kept (index $kept "tls.crt") (index $kept "tls.key") (index $kept "ca.crt") }}
  tls.crt: {{ index $kept "tls.crt" }}
  tls.key: {{ index $kept "tls.key" }}
  ca.crt: {{ index $kept "ca.crt" }}
  {{- else }}
  {{- $authority := genCA (printf "%s of %s" $name .Release.Namespace) 3650 }}
  {{- $certificate := genSignedCert $name nil $names 3650 $authority }}
  tls.crt: {{ $certificate.Cert | b64enc }}
  tls.key: {{ $certificate.Key | b64enc }}
  ca.crt: {{ $authority.Cert | b64enc }}
  {{- end }}
{{- end }}
{{- end }}
{{- end }}
