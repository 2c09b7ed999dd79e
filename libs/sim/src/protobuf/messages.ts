/**
 * The fields of the messages that clients send as protobuf, as the Go types of k8s.io/api and k8s.io/apimachinery
 * v0.36.3 tag them: number, name in JSON and type. `s` text, `i` integer, `b` flag, `y` bytes; `?` says that Go has a
 * pointer, so that an empty value was meant. `*` is a list, `%` a map by text. `.` merges the fields of the message
 * into the one around it. `{}` is not read: the server ignores it.
 */
export const messages: Readonly<Record<string, string>> = {
  Affinity: "1 nodeAffinity NodeAffinity, 2 podAffinity PodAffinity, 3 podAntiAffinity PodAntiAffinity",
  AppArmorProfile: "1 type s, 2 localhostProfile s?",
  CSIPersistentVolumeSource:
    "1 driver s, 2 volumeHandle s, 3 readOnly b, 4 fsType s, 5 volumeAttributes %s, 6 controllerPublishSecretRef SecretReference, 7 nodeStageSecretRef SecretReference, 8 nodePublishSecretRef SecretReference, 9 controllerExpandSecretRef SecretReference, 10 nodeExpandSecretRef SecretReference",
  CSIVolumeSource:
    "1 driver s, 2 readOnly b?, 3 fsType s?, 4 volumeAttributes %s, 5 nodePublishSecretRef LocalObjectReference",
  Capabilities: "1 add *s, 2 drop *s",
  ClientIPConfig: "1 timeoutSeconds i?",
  ConfigMap: "1 metadata ObjectMeta, 4 immutable b?, 2 data %s, 3 binaryData %y",
  ConfigMapEnvSource: "1 . LocalObjectReference, 2 optional b?",
  ConfigMapKeySelector: "1 . LocalObjectReference, 2 key s, 3 optional b?",
  ConfigMapProjection: "1 . LocalObjectReference, 2 items *KeyToPath, 4 optional b?",
  ConfigMapVolumeSource: "1 . LocalObjectReference, 2 items *KeyToPath, 3 defaultMode i?, 4 optional b?",
  Container:
    "1 name s, 2 image s, 3 command *s, 4 args *s, 5 workingDir s, 6 ports *ContainerPort, 19 envFrom *EnvFromSource, 7 env *EnvVar, 8 resources ResourceRequirements, 23 resizePolicy *ContainerResizePolicy, 24 restartPolicy s?, 25 restartPolicyRules *ContainerRestartRule, 9 volumeMounts *VolumeMount, 21 volumeDevices *VolumeDevice, 10 livenessProbe Probe, 11 readinessProbe Probe, 22 startupProbe Probe, 12 lifecycle Lifecycle, 13 terminationMessagePath s, 20 terminationMessagePolicy s, 14 imagePullPolicy s, 15 securityContext SecurityContext, 16 stdin b, 17 stdinOnce b, 18 tty b",
  ContainerPort: "1 name s, 2 hostPort i, 3 containerPort i, 4 protocol s, 5 hostIP s",
  ContainerResizePolicy: "1 resourceName s, 2 restartPolicy s",
  ContainerRestartRule: "1 action s, 2 exitCodes ContainerRestartRuleOnExitCodes",
  ContainerRestartRuleOnExitCodes: "1 operator s, 2 values *i",
  Deployment: "1 metadata ObjectMeta, 2 spec DeploymentSpec, 3 status {}",
  DeploymentSpec:
    "1 replicas i?, 2 selector LabelSelector, 3 template PodTemplateSpec, 4 strategy DeploymentStrategy, 5 minReadySeconds i, 6 revisionHistoryLimit i?, 7 paused b, 9 progressDeadlineSeconds i?",
  DeploymentStrategy: "1 type s, 2 rollingUpdate RollingUpdateDeployment",
  DownwardAPIProjection: "1 items *DownwardAPIVolumeFile",
  DownwardAPIVolumeFile:
    "1 path s, 2 fieldRef ObjectFieldSelector, 3 resourceFieldRef ResourceFieldSelector, 4 mode i?",
  DownwardAPIVolumeSource: "1 items *DownwardAPIVolumeFile, 2 defaultMode i?",
  EmptyDirVolumeSource: "1 medium s, 2 sizeLimit Quantity",
  EnvFromSource: "1 prefix s, 2 configMapRef ConfigMapEnvSource, 3 secretRef SecretEnvSource",
  EnvVar: "1 name s, 2 value s, 3 valueFrom EnvVarSource",
  EnvVarSource:
    "1 fieldRef ObjectFieldSelector, 2 resourceFieldRef ResourceFieldSelector, 3 configMapKeyRef ConfigMapKeySelector, 4 secretKeyRef SecretKeySelector, 5 fileKeyRef FileKeySelector",
  ExecAction: "1 command *s",
  FileKeySelector: "1 volumeName s, 2 path s, 3 key s, 4 optional b?",
  GRPCAction: "1 port i, 2 service s?",
  HTTPGetAction: "1 path s, 2 port IntOrString, 3 host s, 4 scheme s, 5 httpHeaders *HTTPHeader",
  HTTPHeader: "1 name s, 2 value s",
  HostAlias: "1 ip s, 2 hostnames *s",
  HostPathVolumeSource: "1 path s, 2 type s?",
  KeyToPath: "1 key s, 2 path s, 3 mode i?",
  LabelSelector: "1 matchLabels %s, 2 matchExpressions *LabelSelectorRequirement",
  LabelSelectorRequirement: "1 key s, 2 operator s, 3 values *s",
  Lifecycle: "1 postStart LifecycleHandler, 2 preStop LifecycleHandler, 3 stopSignal s?",
  LifecycleHandler: "1 exec ExecAction, 2 httpGet HTTPGetAction, 3 tcpSocket TCPSocketAction, 4 sleep SleepAction",
  LocalObjectReference: "1 name s",
  LocalVolumeSource: "1 path s, 2 fsType s?",
  NFSVolumeSource: "1 server s, 2 path s, 3 readOnly b",
  Namespace: "1 metadata ObjectMeta, 2 spec NamespaceSpec, 3 status {}",
  NamespaceSpec: "1 finalizers *s",
  NodeAffinity:
    "1 requiredDuringSchedulingIgnoredDuringExecution NodeSelector, 2 preferredDuringSchedulingIgnoredDuringExecution *PreferredSchedulingTerm",
  NodeSelector: "1 nodeSelectorTerms *NodeSelectorTerm",
  NodeSelectorRequirement: "1 key s, 2 operator s, 3 values *s",
  NodeSelectorTerm: "1 matchExpressions *NodeSelectorRequirement, 2 matchFields *NodeSelectorRequirement",
  ObjectFieldSelector: "1 apiVersion s, 2 fieldPath s",
  ObjectMeta:
    "1 name s, 2 generateName s, 3 namespace s, 4 selfLink {}, 5 uid s, 6 resourceVersion s, 7 generation i, 8 creationTimestamp Time, 9 deletionTimestamp Time, 10 deletionGracePeriodSeconds i?, 11 labels %s, 12 annotations %s, 13 ownerReferences *OwnerReference, 14 finalizers *s, 17 managedFields {}",
  ObjectReference: "1 kind s, 2 namespace s, 3 name s, 4 uid s, 5 apiVersion s, 6 resourceVersion s, 7 fieldPath s",
  OwnerReference: "5 apiVersion s, 1 kind s, 3 name s, 4 uid s, 6 controller b?, 7 blockOwnerDeletion b?",
  PersistentVolume: "1 metadata ObjectMeta, 2 spec PersistentVolumeSpec, 3 status {}",
  PersistentVolumeClaim: "1 metadata ObjectMeta, 2 spec PersistentVolumeClaimSpec, 3 status {}",
  PersistentVolumeClaimSpec:
    "1 accessModes *s, 4 selector LabelSelector, 2 resources VolumeResourceRequirements, 3 volumeName s, 5 storageClassName s?, 6 volumeMode s?, 7 dataSource TypedLocalObjectReference, 8 dataSourceRef TypedObjectReference, 9 volumeAttributesClassName s?",
  PersistentVolumeClaimVolumeSource: "1 claimName s, 2 readOnly b",
  PersistentVolumeSource:
    "3 hostPath HostPathVolumeSource, 5 nfs NFSVolumeSource, 20 local LocalVolumeSource, 22 csi CSIPersistentVolumeSource",
  PersistentVolumeSpec:
    "1 capacity %Quantity, 2 . PersistentVolumeSource, 3 accessModes *s, 4 claimRef ObjectReference, 5 persistentVolumeReclaimPolicy s, 6 storageClassName s, 7 mountOptions *s, 8 volumeMode s?, 9 nodeAffinity VolumeNodeAffinity, 10 volumeAttributesClassName s?",
  PodAffinity:
    "1 requiredDuringSchedulingIgnoredDuringExecution *PodAffinityTerm, 2 preferredDuringSchedulingIgnoredDuringExecution *WeightedPodAffinityTerm",
  PodAffinityTerm:
    "1 labelSelector LabelSelector, 2 namespaces *s, 3 topologyKey s, 4 namespaceSelector LabelSelector, 5 matchLabelKeys *s, 6 mismatchLabelKeys *s",
  PodAntiAffinity:
    "1 requiredDuringSchedulingIgnoredDuringExecution *PodAffinityTerm, 2 preferredDuringSchedulingIgnoredDuringExecution *WeightedPodAffinityTerm",
  PodDNSConfig: "1 nameservers *s, 2 searches *s, 3 options *PodDNSConfigOption",
  PodDNSConfigOption: "1 name s, 2 value s?",
  PodOS: "1 name s",
  PodReadinessGate: "1 conditionType s",
  PodSchedulingGate: "1 name s",
  PodSecurityContext:
    "1 seLinuxOptions SELinuxOptions, 8 windowsOptions WindowsSecurityContextOptions, 2 runAsUser i?, 6 runAsGroup i?, 3 runAsNonRoot b?, 4 supplementalGroups *i, 12 supplementalGroupsPolicy s?, 5 fsGroup i?, 7 sysctls *Sysctl, 9 fsGroupChangePolicy s?, 10 seccompProfile SeccompProfile, 11 appArmorProfile AppArmorProfile, 13 seLinuxChangePolicy s?",
  PodSpec:
    "1 volumes *Volume, 20 initContainers *Container, 2 containers *Container, 3 restartPolicy s, 4 terminationGracePeriodSeconds i?, 5 activeDeadlineSeconds i?, 6 dnsPolicy s, 7 nodeSelector %s, 8 serviceAccountName s, 9 serviceAccount s, 21 automountServiceAccountToken b?, 10 nodeName s, 11 hostNetwork b, 12 hostPID b, 13 hostIPC b, 27 shareProcessNamespace b?, 14 securityContext PodSecurityContext, 15 imagePullSecrets *LocalObjectReference, 16 hostname s, 17 subdomain s, 18 affinity Affinity, 19 schedulerName s, 22 tolerations *Toleration, 23 hostAliases *HostAlias, 24 priorityClassName s, 25 priority i?, 26 dnsConfig PodDNSConfig, 28 readinessGates *PodReadinessGate, 29 runtimeClassName s?, 30 enableServiceLinks b?, 31 preemptionPolicy s?, 32 overhead %Quantity, 33 topologySpreadConstraints *TopologySpreadConstraint, 35 setHostnameAsFQDN b?, 36 os PodOS, 37 hostUsers b?, 38 schedulingGates *PodSchedulingGate, 40 resources ResourceRequirements, 41 hostnameOverride s?",
  PodTemplateSpec: "1 metadata ObjectMeta, 2 spec PodSpec",
  PreferredSchedulingTerm: "1 weight i, 2 preference NodeSelectorTerm",
  Probe:
    "1 . ProbeHandler, 2 initialDelaySeconds i, 3 timeoutSeconds i, 4 periodSeconds i, 5 successThreshold i, 6 failureThreshold i, 7 terminationGracePeriodSeconds i?",
  ProbeHandler: "1 exec ExecAction, 2 httpGet HTTPGetAction, 3 tcpSocket TCPSocketAction, 4 grpc GRPCAction",
  ProjectedVolumeSource: "1 sources *VolumeProjection, 2 defaultMode i?",
  ResourceClaim: "1 name s, 2 request s",
  ResourceFieldSelector: "1 containerName s, 2 resource s, 3 divisor Quantity",
  ResourceRequirements: "1 limits %Quantity, 2 requests %Quantity, 3 claims *ResourceClaim",
  RollingUpdateDeployment: "1 maxUnavailable IntOrString, 2 maxSurge IntOrString",
  RollingUpdateStatefulSetStrategy: "1 partition i?, 2 maxUnavailable IntOrString",
  SELinuxOptions: "1 user s, 2 role s, 3 type s, 4 level s",
  Scale: "1 metadata ObjectMeta, 2 spec ScaleSpec, 3 status {}",
  ScaleSpec: "1 replicas i",
  SeccompProfile: "1 type s, 2 localhostProfile s?",
  SecretEnvSource: "1 . LocalObjectReference, 2 optional b?",
  SecretKeySelector: "1 . LocalObjectReference, 2 key s, 3 optional b?",
  SecretProjection: "1 . LocalObjectReference, 2 items *KeyToPath, 4 optional b?",
  SecretReference: "1 name s, 2 namespace s",
  SecretVolumeSource: "1 secretName s, 2 items *KeyToPath, 3 defaultMode i?, 4 optional b?",
  SecurityContext:
    "1 capabilities Capabilities, 2 privileged b?, 3 seLinuxOptions SELinuxOptions, 10 windowsOptions WindowsSecurityContextOptions, 4 runAsUser i?, 8 runAsGroup i?, 5 runAsNonRoot b?, 6 readOnlyRootFilesystem b?, 7 allowPrivilegeEscalation b?, 9 procMount s?, 11 seccompProfile SeccompProfile, 12 appArmorProfile AppArmorProfile",
  Service: "1 metadata ObjectMeta, 2 spec ServiceSpec, 3 status {}",
  ServiceAccountTokenProjection: "1 audience s, 2 expirationSeconds i?, 3 path s",
  ServicePort: "1 name s, 2 protocol s, 6 appProtocol s?, 3 port i, 4 targetPort IntOrString, 5 nodePort i",
  ServiceSpec:
    "1 ports *ServicePort, 2 selector %s, 3 clusterIP s, 18 clusterIPs *s, 4 type s, 5 externalIPs *s, 7 sessionAffinity s, 8 loadBalancerIP s, 9 loadBalancerSourceRanges *s, 10 externalName s, 11 externalTrafficPolicy s, 12 healthCheckNodePort i, 13 publishNotReadyAddresses b, 14 sessionAffinityConfig SessionAffinityConfig, 19 ipFamilies *s, 17 ipFamilyPolicy s?, 20 allocateLoadBalancerNodePorts b?, 21 loadBalancerClass s?, 22 internalTrafficPolicy s?, 23 trafficDistribution s?",
  SessionAffinityConfig: "1 clientIP ClientIPConfig",
  SleepAction: "1 seconds i",
  StatefulSet: "1 metadata ObjectMeta, 2 spec StatefulSetSpec, 3 status {}",
  StatefulSetOrdinals: "1 start i",
  StatefulSetPersistentVolumeClaimRetentionPolicy: "1 whenDeleted s, 2 whenScaled s",
  StatefulSetSpec:
    "1 replicas i?, 2 selector LabelSelector, 3 template PodTemplateSpec, 4 volumeClaimTemplates *PersistentVolumeClaim, 5 serviceName s, 6 podManagementPolicy s, 7 updateStrategy StatefulSetUpdateStrategy, 8 revisionHistoryLimit i?, 9 minReadySeconds i, 10 persistentVolumeClaimRetentionPolicy StatefulSetPersistentVolumeClaimRetentionPolicy, 11 ordinals StatefulSetOrdinals",
  StatefulSetUpdateStrategy: "1 type s, 2 rollingUpdate RollingUpdateStatefulSetStrategy",
  Sysctl: "1 name s, 2 value s",
  TCPSocketAction: "1 port IntOrString, 2 host s",
  Toleration: "1 key s, 2 operator s, 3 value s, 4 effect s, 5 tolerationSeconds i?",
  TopologySpreadConstraint:
    "1 maxSkew i, 2 topologyKey s, 3 whenUnsatisfiable s, 4 labelSelector LabelSelector, 5 minDomains i?, 6 nodeAffinityPolicy s?, 7 nodeTaintsPolicy s?, 8 matchLabelKeys *s",
  TypedLocalObjectReference: "1 apiGroup s?, 2 kind s, 3 name s",
  TypedObjectReference: "1 apiGroup s?, 2 kind s, 3 name s, 4 namespace s?",
  Volume: "1 name s, 2 . VolumeSource",
  VolumeDevice: "1 name s, 2 devicePath s",
  VolumeMount:
    "1 name s, 2 readOnly b, 7 recursiveReadOnly s?, 3 mountPath s, 4 subPath s, 5 mountPropagation s?, 6 subPathExpr s",
  VolumeNodeAffinity: "1 required NodeSelector",
  VolumeProjection:
    "1 secret SecretProjection, 2 downwardAPI DownwardAPIProjection, 3 configMap ConfigMapProjection, 4 serviceAccountToken ServiceAccountTokenProjection",
  VolumeResourceRequirements: "1 limits %Quantity, 2 requests %Quantity",
  VolumeSource:
    "1 hostPath HostPathVolumeSource, 2 emptyDir EmptyDirVolumeSource, 6 secret SecretVolumeSource, 7 nfs NFSVolumeSource, 10 persistentVolumeClaim PersistentVolumeClaimVolumeSource, 16 downwardAPI DownwardAPIVolumeSource, 19 configMap ConfigMapVolumeSource, 26 projected ProjectedVolumeSource, 28 csi CSIVolumeSource",
  WeightedPodAffinityTerm: "1 weight i, 2 podAffinityTerm PodAffinityTerm",
  WindowsSecurityContextOptions:
    "1 gmsaCredentialSpecName s?, 2 gmsaCredentialSpec s?, 3 runAsUserName s?, 4 hostProcess b?",
};
