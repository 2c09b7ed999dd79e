{{/* `helm test`: the service answers by its name, says who it is, and serves its metrics and its page. */}}
{{- define "evenkeel-lib.test" -}}
{{- $name := include "evenkeel-lib.name" . -}}
apiVersion: v1
kind: Pod
metadata:
  name: {{ $name }}-test
  namespace: {{ .Release.Namespace }}
  labels: {{- include "evenkeel-lib.labels" . | replace (printf "name: %s" $name) (printf "name: %s-test" $name) | nindent 4 }}
  annotations:
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
          value: http://{{ $name }}.{{ .Release.Namespace }}.svc:8080
        - name: SERVICE
          value: {{ $name }}
      args:
        - --input-type=module
        - --eval
        - {{ include "evenkeel-lib.testScript" . | toJson }}
      resources:
        requests: { cpu: 10m, memory: 64Mi }
        limits: { memory: 128Mi }
      securityContext: {{- include "evenkeel-lib.containerSecurity" . | nindent 8 }}
{{- end }}

{{- define "evenkeel-lib.testScript" -}}
const { ADDRESS, SERVICE } = process.env;
const get = async (path) => {
  const answer = await fetch(ADDRESS + path, { signal: AbortSignal.timeout(10_000) });
  if (!answer.ok) throw new Error(`${path} answers ${answer.status}`);
  return answer.text();
};
const status = JSON.parse(await get("/api/v1/Runtime/Status"));
if (status.service !== SERVICE) throw new Error(`${ADDRESS} is ${status.service}, not ${SERVICE}`);
if (!(await get("/metrics")).includes("evenkeel_build_info")) throw new Error("/metrics has no evenkeel_build_info");
await get("/dashboard/");
console.log(`${SERVICE} ${status.version} answers`);
{{- end }}
