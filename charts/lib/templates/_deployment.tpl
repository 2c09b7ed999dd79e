{{- define "evenkeel-lib.deployment" -}}
{{- $values := .Values -}}
{{- $redis := include "evenkeel-lib.usesRedis" . -}}
apiVersion: apps/v1
kind: Deployment
{{ include "evenkeel-lib.metadata" . }}
spec:
  {{- if not ($values.autoscaling).enabled }}
  replicas: {{ $values.replicas }}
  {{- end }}
  selector:
    matchLabels: {{- include "evenkeel-lib.selector" . | nindent 6 }}
  strategy:
    {{- if include "evenkeel-lib.claim" . }}
    # Two pods must not have the SQLite file open at once.
    type: Recreate
    {{- else }}
    type: RollingUpdate
    rollingUpdate:
      maxUnavailable: 0
      maxSurge: 1
    {{- end }}
  template:
    metadata:
      labels: {{- include "evenkeel-lib.labels" . | nindent 8 }}
        {{- with $values.podLabels }}{{ toYaml . | nindent 8 }}{{ end }}
      {{- with $values.podAnnotations }}
      annotations: {{- toYaml . | nindent 8 }}
      {{- end }}
    spec:
      serviceAccountName: {{ include "evenkeel-lib.serviceAccountName" . }}
      # The delay after SIGTERM, the drain, and five seconds for the rest of the shutdown.
      terminationGracePeriodSeconds: {{ add $values.shutdown.delaySeconds $values.shutdown.drainSeconds 5 }}
      securityContext: {{- include "evenkeel-lib.podSecurity" . | nindent 8 }}
      {{- with include "evenkeel-lib.placement" . | trim }}
      {{- . | nindent 6 }}
      {{- end }}
      affinity:
        {{- with $values.affinity }}
        {{- toYaml . | nindent 8 }}
        {{- else }}
        podAntiAffinity:
          preferredDuringSchedulingIgnoredDuringExecution:
            - weight: 100
              podAffinityTerm:
                topologyKey: kubernetes.io/hostname
                labelSelector:
                  matchLabels: {{- include "evenkeel-lib.selector" . | nindent 20 }}
        {{- end }}
      containers:
        - name: {{ include "evenkeel-lib.name" . }}
          image: {{ include "evenkeel-lib.image" . }}
          imagePullPolicy: {{ $values.image.pullPolicy }}
          args:
            # The image's entry point is Node.
            {{- if or .traffic .favourSpeed }}
            # The image's default saves memory at the cost of speed.
            - --no-optimize-for-size
            {{- end }}
            {{- with (.traffic).node }}
            {{- toYaml . | nindent 12 }}
            {{- end }}
            - /app/main.mjs
            - --shutdown-delay={{ $values.shutdown.delaySeconds }}s
            - --drain-timeout={{ $values.shutdown.drainSeconds }}s
            {{- include "evenkeel-lib.tlsArguments" . | trim | nindent 12 }}
            {{- if ne $values.readAccess "open" }}
            - --read-access={{ $values.readAccess }}
            {{- end }}
            {{- with include "evenkeel-lib.settings" . | trim }}
            {{- . | nindent 12 }}
            {{- end }}
            {{- with (.traffic).arguments }}
            {{- toYaml . | nindent 12 }}
            {{- end }}
          env:
            - name: POD_NAMESPACE
              valueFrom:
                fieldRef:
                  fieldPath: metadata.namespace
            {{- if .traffic }}
            - name: POD_NAME
              valueFrom:
                fieldRef:
                  fieldPath: metadata.name
            - name: POD_IPS
              valueFrom:
                fieldRef:
                  fieldPath: status.podIPs
            {{- end }}
            {{- include "evenkeel-lib.stateVariable" . | nindent 12 }}
            {{- with $values.env }}
            {{- toYaml . | nindent 12 }}
            {{- end }}
          {{- with $values.envFrom }}
          envFrom: {{- toYaml . | nindent 12 }}
          {{- end }}
          ports:
            - { name: admin, containerPort: {{ dig "own" "admin" 8080 (.traffic | default dict) }} }
            - { name: health, containerPort: {{ dig "own" "health" 8081 (.traffic | default dict) }} }
            - { name: grpc, containerPort: {{ dig "own" "grpc" 9090 (.traffic | default dict) }} }
            {{- range (.traffic).ports }}
            - { name: {{ .name }}, containerPort: {{ .port }} }
            {{- end }}
          startupProbe:
            httpGet: { path: /livez, port: health }
            periodSeconds: 1
            failureThreshold: 60
          livenessProbe:
            httpGet: { path: /livez, port: health }
            periodSeconds: 10
            timeoutSeconds: 5
          readinessProbe:
            httpGet: { path: /readyz, port: health }
            {{- if .traffic }}
            # Requests wait for it.
            periodSeconds: 1
            {{- else }}
            periodSeconds: 5
            {{- end }}
            timeoutSeconds: 3
          resources: {{- toYaml $values.resources | nindent 12 }}
          securityContext: {{- include "evenkeel-lib.containerSecurity" . | nindent 12 }}
          volumeMounts:
            {{- if not $redis }}
            - { name: state, mountPath: /var/lib/evenkeel }
            {{- end }}
            - { name: tmp, mountPath: /tmp }
            {{- if $values.tls.enabled }}
            - { name: tls, mountPath: /etc/evenkeel/tls, readOnly: true }
            {{- end }}
            {{- range .secrets }}
            - { name: {{ .name }}, mountPath: {{ .path }}, readOnly: true }
            {{- end }}
      volumes:
        {{- if not $redis }}
        - name: state
          {{- with include "evenkeel-lib.claim" . }}
          persistentVolumeClaim: { claimName: {{ . }} }
          {{- else }}
          emptyDir: { sizeLimit: {{ $values.state.sqlite.sizeLimit }} }
          {{- end }}
        {{- end }}
        - name: tmp
          emptyDir: { sizeLimit: 16Mi }
        {{- if $values.tls.enabled }}
        - name: tls
          secret:
            secretName: {{ include "evenkeel-lib.tlsSecret" . }}
            defaultMode: 0440
        {{- end }}
        {{- range .secrets }}
        - name: {{ .name }}
          secret:
            secretName: {{ .secret }}
            defaultMode: 0440
            {{- if .optional }}
            optional: true
            {{- end }}
        {{- end }}
{{- end }}

{{- define "evenkeel-lib.disruptionBudget" -}}
{{- if gt (int .Values.replicas) 1 -}}
apiVersion: policy/v1
kind: PodDisruptionBudget
{{ include "evenkeel-lib.metadata" . }}
spec:
  maxUnavailable: 1
  selector:
    matchLabels: {{- include "evenkeel-lib.selector" . | nindent 6 }}
{{- end }}
{{- end }}
