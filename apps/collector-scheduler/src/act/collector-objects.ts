import { createHash } from "node:crypto";
import type { CollectorLoadBalancerSpec } from "@evenkeel/api";
import {
  type ConfigMap,
  type KubeObject,
  type Secret,
  type Service,
  type ServiceAccount,
  type StatefulSet,
  withOwner,
} from "@evenkeel/kube";
import type { StoredCollectorLoadBalancer } from "../collector-load-balancer-resource.ts";
import { POD_NAME } from "../config/collector-configuration.ts";
import { COLLECTOR_CONTAINER, SecretValue } from "../config/environment.ts";
import { SECRETS_FOLDER, type SecretFiles } from "../config/secret-files.ts";
import { strategicMerge } from "./strategic-merge.ts";

/** What the collectors of one CollectorLoadBalancer consist of, apart from their pods. */
export interface CollectorObjects {
  readonly serviceAccount: ServiceAccount;
  readonly configMap: ConfigMap;
  /** Empty without a password, token or key: to know whether one is there would need the right to read Secrets. */
  readonly secret: Secret;
  readonly service: Service;
  readonly statefulSet: StatefulSet;
}

export interface CollectorSettings {
  readonly spec: Pick<CollectorLoadBalancerSpec, "collectorImage" | "podTemplate">;
  readonly replicas: number;
  /** The StatefulSet as it is: it keeps what cannot be changed, and what belongs to a set that was taken over. */
  readonly present: StatefulSet | undefined;
  /** Pods with a lower ordinal are not restarted for another template; null: all are, one after the other. */
  readonly partition: number | null;
  /** The configuration that collectors load. */
  readonly configuration: string;
  readonly secretFiles: SecretFiles;
  /** The CA that signed the certificate of the target API; absent without TLS. */
  readonly ca: string | undefined;
}

/** Labels by which the original found its collectors. A selector cannot be changed, so they stay. */
export const MANAGED_BY = "app.kubernetes.io/managed-by";
export const MANAGER = "collector-load-balancer";
const INSTANCE = "app.kubernetes.io/instance";

/** Where the pods find the ConfigMap. */
const CONFIG_FOLDER = "/etc/evenkeel/collector";
const CONFIG_FILE = "collector.yaml";
const CA_FILE = "ca.crt";
export const CA_PATH = `${CONFIG_FOLDER}/${CA_FILE}`;

/** The variable that images of the original read their configuration from. */
const CONFIG_VARIABLE = "AOT_CONFIG_CONTENT";
/** Bytes of one variable that Linux allows a process, with some room. A longer configuration is read from the file. */
const MAX_VARIABLE = 120_000;
const HASH = "evenkeel.io/collector-config";
/** On the StatefulSet: what its pod template was made of. */
const TEMPLATE_HASH = "evenkeel.io/collector-template";
/** On a StatefulSet that was taken over: its pods keep the ServiceAccount that they had, and the rights of it. */
const KEEPS_ACCOUNT = "evenkeel.io/keeps-service-account";
const MIN_READY_SECONDS = 5;
/** Characters of a label's value. */
const MAX_LABEL = 63;

/** The name of the StatefulSet and of all that belongs to it. */
export function collectorsName(name: string): string {
  return `${name}-collector`;
}

/** Characters of a CollectorLoadBalancer's name: pods of a StatefulSet with a longer one cannot be created. */
export const MAX_NAME = 42;

/** The key of the CollectorLoadBalancer by that of its StatefulSet. */
export function ownerOfSet(key: string): string | undefined {
  const suffix = collectorsName("");
  return key.endsWith(suffix) ? key.slice(0, -suffix.length) : undefined;
}

export function collectorLabels(namespace: string, name: string): Readonly<Record<string, string>> {
  const instance = `${namespace}__${name}`;
  const bounded =
    instance.length <= MAX_LABEL ? instance : `${instance.slice(0, MAX_LABEL - 11)}-${hashOf(instance).slice(0, 10)}`;
  return { [MANAGED_BY]: MANAGER, [INSTANCE]: bounded };
}

/** As a HorizontalPodAutoscaler reads it from the status. */
export function selectorText(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}=${value}`)
    .sort()
    .join(",");
}

/** The objects as they are to be. The CollectorLoadBalancer owns them, so that they are deleted with it. */
export function collectorObjects(object: StoredCollectorLoadBalancer, settings: CollectorSettings): CollectorObjects {
  const { namespace = "", name: owner = "" } = object.metadata;
  const labels = collectorLabels(namespace, owner);
  const metadata = { namespace, name: collectorsName(owner), labels };
  const owned = <T extends KubeObject>(each: T): T => withOwner(each, object, { blockOwnerDeletion: false });
  const { configuration, secretFiles, ca } = settings;
  const texts = [...secretFiles].flatMap(([file, value]) =>
    typeof value === "string" ? [[file, value] as const] : [],
  );
  const keepsAccount = isTakenOver(settings.present);
  const template = podTemplate({ name: metadata.name, labels, keepsAccount }, settings);
  const annotations = {
    [TEMPLATE_HASH]: hashOf(JSON.stringify(template)),
    ...(keepsAccount && { [KEEPS_ACCOUNT]: "true" }),
  };
  return {
    serviceAccount: owned({ apiVersion: "v1", kind: "ServiceAccount", metadata }),
    configMap: owned({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata,
      data: { [CONFIG_FILE]: configuration, ...(ca !== undefined && { [CA_FILE]: ca }) },
    }),
    secret: owned({
      apiVersion: "v1",
      kind: "Secret",
      metadata,
      type: "Opaque",
      data: Object.fromEntries(texts.map(([file, text]) => [file, Buffer.from(text).toString("base64")])),
    }),
    service: owned({
      apiVersion: "v1",
      kind: "Service",
      metadata,
      spec: { clusterIP: "None", selector: labels, ports: servicePorts(template) },
    }),
    statefulSet: owned({
      apiVersion: "apps/v1",
      kind: "StatefulSet",
      metadata: { ...metadata, annotations },
      spec: {
        replicas: settings.replicas,
        selector: { matchLabels: labels },
        podManagementPolicy: settings.present?.spec?.podManagementPolicy ?? "Parallel",
        // A collector that exits at once stops the rollout at its first pod.
        minReadySeconds: MIN_READY_SECONDS,
        ...(settings.partition !== null && {
          updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition: settings.partition } },
        }),
        template,
      },
    }),
  };
}

/** The StatefulSet that restarts no pod until `partition` is lowered, if its template differs from the present one. */
export function heldRestarts(wanted: StatefulSet, present: StatefulSet | undefined): StatefulSet {
  const { updateStrategy, replicas = 0, ...spec } = wanted.spec ?? {};
  const templateOf = ({ metadata }: StatefulSet) => metadata.annotations?.[TEMPLATE_HASH];
  if (!updateStrategy || !present || templateOf(present) === templateOf(wanted)) return wanted;
  const held = { type: "RollingUpdate", rollingUpdate: { partition: replicas } };
  return { ...wanted, spec: { ...spec, replicas, updateStrategy: held } as NonNullable<StatefulSet["spec"]> };
}

type PodTemplate = NonNullable<StatefulSet["spec"]>["template"];

/** Whether the StatefulSet was not made by this service. */
function isTakenOver(present: StatefulSet | undefined): boolean {
  const annotations = present?.metadata.annotations ?? {};
  return present !== undefined && (KEEPS_ACCOUNT in annotations || !(TEMPLATE_HASH in annotations));
}

interface Named {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly keepsAccount: boolean;
}

/** The user's template is merged over ours. Labels of the selector stay, or the API server refuses the StatefulSet. */
function podTemplate(
  { name, labels, keepsAccount }: Named,
  { spec, configuration, secretFiles, ca }: CollectorSettings,
): PodTemplate {
  const inVariable = Buffer.byteLength(configuration) <= MAX_VARIABLE;
  const source = inVariable ? `env:${CONFIG_VARIABLE}` : `${CONFIG_FOLDER}/${CONFIG_FILE}`;
  const ours = {
    metadata: { labels, annotations: { [HASH]: hashOf(`${configuration}\n${ca ?? ""}`) } },
    spec: {
      // A field that is not applied stays as it is.
      ...(!keepsAccount && { serviceAccountName: name }),
      containers: [
        {
          name: COLLECTOR_CONTAINER,
          image: spec.collectorImage,
          imagePullPolicy: "Always",
          args: [`--config=${source}`],
          env: [
            ...(inVariable ? [{ name: CONFIG_VARIABLE, value: escapedForKubelet(configuration) }] : []),
            { name: POD_NAME, valueFrom: { fieldRef: { apiVersion: "v1", fieldPath: "metadata.name" } } },
            { name: "AWS_REGION", value: "us-west-2" },
          ],
          ports: [
            { name: "http", containerPort: 8520, protocol: "TCP" },
            { name: "grpc", containerPort: 8521, protocol: "TCP" },
          ],
          volumeMounts: [
            { name: "collector-config", mountPath: CONFIG_FOLDER, readOnly: true },
            ...(secretFiles.size > 0 ? [{ name: "scrape-secrets", mountPath: SECRETS_FOLDER, readOnly: true }] : []),
          ],
        },
      ],
      volumes: [
        { name: "collector-config", configMap: { name } },
        ...(secretFiles.size > 0
          ? [{ name: "scrape-secrets", projected: { sources: secretSources(name, secretFiles) } }]
          : []),
      ],
    },
  };
  const merged = strategicMerge(ours, spec.podTemplate ?? {}) as typeof ours;
  return {
    ...merged,
    metadata: { ...merged.metadata, labels: { ...merged.metadata.labels, ...labels } },
  } as PodTemplate;
}

/** One folder of what is in our Secret and what is in Secrets of the user. */
function secretSources(name: string, files: SecretFiles): readonly unknown[] {
  const hasTexts = [...files.values()].some((value) => typeof value === "string");
  const theirs = [...files].flatMap(([file, value]) =>
    value instanceof SecretValue ? [{ secret: { name: value.secret, items: [{ key: value.key, path: file }] } }] : [],
  );
  return [...(hasTexts ? [{ secret: { name } }] : []), ...theirs];
}

function servicePorts({ spec }: PodTemplate) {
  const ports = spec?.containers.flatMap((container) => container.ports ?? []) ?? [];
  return ports.map(({ name, containerPort, protocol = "TCP" }) => ({
    name: name ?? `${protocol.toLowerCase()}-${containerPort}`,
    port: containerPort,
    targetPort: containerPort,
    protocol,
  }));
}

/** The kubelet replaces `$(NAME)` and `$$` in the values of variables. */
function escapedForKubelet(text: string): string {
  return text.replaceAll("$", "$$$$");
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}
