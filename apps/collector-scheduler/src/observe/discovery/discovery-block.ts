/** One entry of a job's discovery configuration, checked and with defaults filled in. Times are in milliseconds. */
export type DiscoveryBlock = StaticBlock | KubernetesBlock | FileBlock | HttpBlock | DnsBlock;

export type Mechanism = DiscoveryBlock["mechanism"];

export interface StaticBlock {
  readonly mechanism: "static";
  /** All `static_configs` of the job. */
  readonly groups: readonly {
    readonly targets: readonly string[];
    readonly labels: Readonly<Record<string, string>>;
  }[];
}

export interface FileBlock {
  readonly mechanism: "file";
  /** Absolute; the last element may have a pattern. */
  readonly files: readonly string[];
  readonly refreshInterval: number;
}

export interface DnsBlock {
  readonly mechanism: "dns";
  readonly names: readonly string[];
  readonly type: "A" | "AAAA" | "SRV" | "MX" | "NS";
  /** Of every target, except for SRV, which has ports of its own. */
  readonly port: number;
  readonly refreshInterval: number;
}

export interface HttpBlock {
  readonly mechanism: "http";
  readonly url: string;
  readonly refreshInterval: number;
  readonly basicAuth?: { readonly username: SecretText; readonly password: SecretText } | undefined;
  readonly authorization?: { readonly type: string; readonly credentials: SecretText } | undefined;
  readonly headers: readonly { readonly name: string; readonly values: readonly SecretText[] }[];
  readonly tls: HttpTls;
}

/** A text of the configuration, or a file below the folder of discovery files that is read for each request. */
export type SecretText = { readonly text: string } | { readonly file: string };

export interface HttpTls {
  readonly ca?: SecretText | undefined;
  readonly cert?: SecretText | undefined;
  readonly key?: SecretText | undefined;
  readonly serverName?: string | undefined;
  readonly insecureSkipVerify: boolean;
  readonly minVersion?: TlsVersion | undefined;
  readonly maxVersion?: TlsVersion | undefined;
}

export type TlsVersion = "TLSv1" | "TLSv1.1" | "TLSv1.2" | "TLSv1.3";

export type KubernetesRole = "pod" | "service" | "endpoints" | "endpointslice" | "node" | "ingress";

export interface KubernetesBlock {
  readonly mechanism: "kubernetes";
  readonly role: KubernetesRole;
  /** Where to look; empty for all namespaces. `own_namespace` and the discovery scope are resolved. */
  readonly namespaces: readonly string[];
  readonly selectors: Readonly<Partial<Record<KubernetesRole, ObjectSelector>>>;
  readonly attach: AttachedMetadata;
}

export interface ObjectSelector {
  readonly label?: string;
  readonly field?: string;
}

/** Of which other objects the metadata is attached to targets. */
export interface AttachedMetadata {
  readonly node: boolean;
  readonly namespace: boolean;
  readonly deployment: boolean;
  readonly job: boolean;
  readonly cronjob: boolean;
}
