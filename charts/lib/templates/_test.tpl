{{/*
`helm test`: the Service leads to the service, whose metrics name it, and to its dashboard. Neither needs a token.
*/}}
{{- define "evenkeel-lib.test" -}}
{{- $name := include "evenkeel-lib.name" . -}}
apiVersion: v1
kind: Pod
metadata:
  name: {{ $name }}-test
  namespace: {{ .Release.Namespace }}
  labels: {{- include "evenkeel-lib.labels" . | replace (printf "name: %s" .Chart.Name) (printf "name: %s-test" .Chart.Name) | nindent 4 }}
    {{- include "evenkeel-lib.noSidecar" . | nindent 4 }}
  annotations:
    {{- include "evenkeel-lib.noSidecar" . | nindent 4 }}
    helm.sh/hook: test
    helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
spec:
  restartPolicy: Never
  automountServiceAccountToken: false
  securityContext: {{- include "evenkeel-lib.podSecurity" . | nindent 4 }}
  {{- with include "evenkeel-lib.placement" . | trim }}
  {{- . | nindent 2 }}
  {{- end }}
  containers:
    - name: test
      image: {{ include "evenkeel-lib.image" . }}
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      env:
        - name: ADDRESS
          value: {{ include "evenkeel-lib.adminScheme" . }}://{{ $name }}.{{ .Release.Namespace }}.svc:{{ .adminPort | default 8080 }}
        - name: SERVICE
          value: {{ .Chart.Name }}
        {{- if .Values.tls.admin }}
        - name: NODE_EXTRA_CA_CERTS
          value: /etc/evenkeel/tls/ca.crt
        {{- end }}
      args:
        - --input-type=module
        - --eval
        - {{ include "evenkeel-lib.testScript" . | toJson }}
      resources:
        requests: { cpu: 10m, memory: 64Mi }
        limits: { memory: 128Mi }
      securityContext: {{- include "evenkeel-lib.containerSecurity" . | nindent 8 }}
      {{- if .Values.tls.admin }}
      volumeMounts:
        - { name: tls, mountPath: /etc/evenkeel/tls, readOnly: true }
  volumes:
    - name: tls
      secret:
        secretName: {{ include "evenkeel-lib.tlsSecret" . }}
        items: [{ key: ca.crt, path: ca.crt }]
      {{- end }}
{{- end }}

{{- define "evenkeel-lib.testScript" -}}
const { ADDRESS, SERVICE } = process.env;
const get = async (path) => {
  const answer = await fetch(ADDRESS + path, { signal: AbortSignal.timeout(10_000) });
  if (!answer.ok) throw new Error(`${path} answers ${answer.status}`);
  return answer.text();
};
const [, service, version] = /^evenkeel_build_info\{service="([^"]*)",version="([^"]*)"\}/m.exec(await get("/metrics")) ?? [];
if (service !== SERVICE) throw new Error(`${ADDRESS}/metrics is of ${service}, not of ${SERVICE}`);
await get("/dashboard/");
console.log(`${service} ${version} answers`);
{{- end }}
