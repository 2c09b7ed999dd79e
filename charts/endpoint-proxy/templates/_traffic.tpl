{{/* The ports for users and peers, and arguments that are not settings. */}}
{{- define "endpoint-proxy.traffic" -}}
ports:
  - { name: users, port: {{ .Values.settings.port1 }}, servicePort: 18080 }
  - { name: peers, port: {{ .Values.settings.port2 }}, servicePort: 18081 }
node:
  # Room for what requests allocate. The image's 1 MiB is collected so often that a request costs half as much CPU
  # again.
  - --max-semi-space-size=16
arguments:
  - --certificate-directory=/etc/waoendpointproxy/pki
  - --peer-authorities=/etc/waoendpointproxy/peers
  - --impersonator={{ include "evenkeel-lib.name" . }}-impersonator
  {{- with .Values.clusterName }}
  - --cluster-name={{ . }}
  {{- end }}
{{- end }}

{{/*
The certificate of both ports, and the authorities of peers: one key for each peer, named like its ClusterScore.
*/}}
{{- define "endpoint-proxy.secrets" -}}
- name: proxy-tls
  secret: {{ .Values.certificate.existingSecret | default .Values.certificate.secretName }}
  path: /etc/waoendpointproxy/pki
- name: peers
  secret: {{ .Values.peerAuthorities.secretName }}
  path: /etc/waoendpointproxy/peers
  optional: true
{{- end }}

{{/*
What the second account may do: be any user, and nothing else. RBAC has no pattern for userextras/<key>, hence `*`.
*/}}
{{- define "endpoint-proxy.secondAccount" -}}
name: impersonator
rules:
  - apiGroups: [""]
    resources: [users, groups, serviceaccounts]
    verbs: [impersonate]
  - apiGroups: [authentication.k8s.io]
    resources: ["*"] # uids and userextras/<any key>
    verbs: [impersonate]
{{- end }}
