import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import type { CertificateAuthority, CertificateFiles, Subject } from "./certificates.ts";
import { ClusterAccess } from "./cluster-access.ts";
import type { Component } from "./component.ts";
import { writeKubeconfig } from "./kubeconfig.ts";
import { removeNode } from "./node/remove-node.ts";
import { endProcesses } from "./process-end.ts";
import { type ProcessIdentity, residentBytes } from "./process-identity.ts";
import type { RunFolder } from "./run-folder.ts";
import type { ComponentName } from "./run-record.ts";

/**
 * After SIGTERM, kube-apiserver waits a minute for its watches to end. A restart kills it after this time, in
 * milliseconds.
 */
const RESTART_GRACE_MS = 1_000;

export interface ComponentStatus {
  readonly component: ComponentName;
  readonly pid: number;
  readonly running: boolean;
  /** Bytes in RAM; undefined if it does not run. */
  readonly residentBytes: number | undefined;
}

export interface TokenUser {
  /** The user's name in the kubeconfig. The API server uses only the token. */
  readonly user: string;
  readonly token: string;
  /** The default namespace. */
  readonly namespace: string;
}

export interface ClusterParts {
  readonly folder: RunFolder;
  readonly authority: CertificateAuthority;
  readonly admin: CertificateFiles;
  readonly auditLog: string | undefined;
  readonly components: ReadonlyMap<ComponentName, Component>;
  /** Maximum milliseconds until a component is ready after a restart. */
  readonly deadlineMs: number;
  readonly startupMs: number;
  readonly disarm: () => void;
}

/** A running control plane from `startCluster`. `await using` or `stop()` ends it. */
export class Cluster extends ClusterAccess implements AsyncDisposable {
  readonly #parts: ClusterParts;
  #stopped: Promise<void> | undefined;

  constructor(parts: ClusterParts) {
    super(parts.folder, parts.folder.read());
    this.#parts = parts;
  }

  /** PEM files of the administrator's client certificate, for clients without kubeconfig support. */
  get admin(): CertificateFiles {
    return this.#parts.admin;
  }

  /** JSON lines of audit events; undefined unless the cluster was started with `audit`. */
  get auditLog(): string | undefined {
    return this.#parts.auditLog;
  }

  /** Milliseconds from the start of the first process to ready nodes. */
  get startupMs(): number {
    return this.#parts.startupMs;
  }

  /**
   * Creates a kubeconfig for a user with a client certificate. The user has the rights that RBAC grants to it and to
   * its groups. At first these are the rights of every authenticated user: review its own rights and read discovery.
   */
  async kubeconfigFor(subject: Subject): Promise<string> {
    const { name, server, folder } = this;
    const file = folder.file(`${idOf(subject)}.kubeconfig.yaml`);
    if (!existsSync(file)) {
      const client = await this.clientCertificate(subject);
      writeKubeconfig(file, { cluster: name, server, caFile: this.caFile, user: subject.user, identity: client });
    }
    return file;
  }

  /** Issues a client certificate, PEM files that a later call for the same subject replaces. */
  async clientCertificate(subject: Subject): Promise<CertificateFiles> {
    return this.#parts.authority.issueClient(idOf(subject), subject);
  }

  /**
   * Issues a server certificate of the cluster's authority, for addresses such as `IP:127.0.0.1` and `DNS:localhost`.
   * A later call for the same name replaces its files.
   */
  async serverCertificate(name: string, addresses: readonly string[]): Promise<CertificateFiles> {
    return this.#parts.authority.issueServer(`server-${name}`, addresses);
  }

  /**
   * Creates a kubeconfig with a token and nothing else. The user has the rights of the token's owner. It is deleted
   * with the cluster.
   */
  kubeconfigWith({ user, token, namespace }: TokenUser): string {
    const { name, server, folder } = this;
    const hash = createHash("sha256").update(token).digest("hex");
    const file = folder.file(`token-${hash.slice(0, 16)}.kubeconfig.yaml`);
    writeKubeconfig(file, { cluster: name, server, caFile: this.caFile, user, identity: { token }, namespace });
    return file;
  }

  /** The processes of the cluster, in the order in which they were started. */
  components(): ComponentStatus[] {
    return [...this.#parts.components.values()].flatMap(({ name, identity, isRunning }) =>
      identity === undefined
        ? []
        : [{ component: name, pid: identity.pid, running: isRunning, residentBytes: residentBytes(identity.pid) }],
    );
  }

  /** Pauses a component (SIGSTOP): its connections stay open and get no response. */
  pause(component: ComponentName): void {
    this.#component(component).signal("SIGSTOP");
  }

  /** Continues a paused component. */
  resume(component: ComponentName): void {
    this.#component(component).signal("SIGCONT");
  }

  /** Kills a component (SIGKILL). Resolves when it has ended; `restart` starts it again. */
  async kill(component: ComponentName): Promise<void> {
    this.#component(component).signal("SIGKILL");
    await this.#component(component).end();
  }

  /** Restarts a component on its ports with its data. Resolves when it serves. */
  async restart(component: ComponentName): Promise<void> {
    await this.#component(component).end(RESTART_GRACE_MS);
    await this.#component(component).start(this.#parts.deadlineMs);
  }

  /** Ends every process and removes keys and data; logs stay. A second call waits for the first. */
  async stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async #stop(): Promise<void> {
    await endCluster(this.folder, this.#parts.components.values());
    this.#parts.disarm();
  }

  #component(name: ComponentName): Component {
    const component = this.#parts.components.get(name);
    if (component === undefined) throw new Error(`the cluster has no component ${name}`);
    return component;
  }
}

/** A name for the files of a user. */
function idOf({ user, groups = [] }: Subject): string {
  const hash = createHash("sha256")
    .update(JSON.stringify([user, groups]))
    .digest("hex");
  return `user-${hash.slice(0, 16)}`;
}

/** Ends the processes of a run, with its real node if it has one, and closes its folder. */
export async function endCluster(folder: RunFolder, components: Iterable<Component>): Promise<void> {
  if (folder.read().realNode === null) await endComponents(components);
  else removeNode(folder);
  folder.close();
}

/** Ends components: etcd last, because kube-apiserver writes to it during shutdown. */
async function endComponents(components: Iterable<Component>): Promise<void> {
  const all = [...components];
  // The others would wait for a paused component.
  for (const component of all) component.signal("SIGCONT");
  const identities = (chosen: readonly Component[]): ProcessIdentity[] =>
    chosen.flatMap(({ identity }) => identity ?? []);
  await endProcesses(identities(all.filter(({ name }) => name !== "etcd")));
  await endProcesses(identities(all.filter(({ name }) => name === "etcd")));
}
