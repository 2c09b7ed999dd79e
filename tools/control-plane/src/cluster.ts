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

/** kube-apiserver, asked to end, waits a minute for its watchers to go; a restart cuts them off after this time, in milliseconds. */
const RESTART_GRACE_MS = 1_000;

export interface ComponentStatus {
  readonly component: ComponentName;
  readonly pid: number;
  readonly running: boolean;
  /** Bytes in RAM; undefined for one that does not run. */
  readonly residentBytes: number | undefined;
}

export interface TokenUser {
  /** What the kubeconfig calls the user; the API server knows it by the token. */
  readonly user: string;
  readonly token: string;
  /** That of objects for which none is named. */
  readonly namespace: string;
}

export interface ClusterParts {
  readonly folder: RunFolder;
  readonly authority: CertificateAuthority;
  readonly admin: CertificateFiles;
  readonly auditLog: string | undefined;
  readonly components: ReadonlyMap<ComponentName, Component>;
  /** How long a component may take to get ready after a restart, in milliseconds. */
  readonly deadlineMs: number;
  readonly startupMs: number;
  readonly disarm: () => void;
}

/** A running control plane. Get one from `startCluster`; `await using` or `stop()` ends it. */
export class Cluster extends ClusterAccess implements AsyncDisposable {
  readonly #parts: ClusterParts;
  #stopped: Promise<void> | undefined;

  constructor(parts: ClusterParts) {
    super(parts.folder, parts.folder.read());
    this.#parts = parts;
  }

  /** PEM files of the administrator's client certificate, for clients that take no kubeconfig. */
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
   * Makes a kubeconfig for a user with a client certificate. The user may do what RBAC grants to it and to its groups; at first
   * that is what every authenticated user may do: ask for its own rights and read discovery.
   */
  async kubeconfigFor(subject: Subject): Promise<string> {
    const { name, server, folder } = this;
    const hash = createHash("sha256")
      .update(JSON.stringify([subject.user, subject.groups ?? []]))
      .digest("hex");
    const id = `user-${hash.slice(0, 16)}`;
    const file = folder.file(`${id}.kubeconfig.yaml`);
    if (!existsSync(file)) {
      const client = await this.#parts.authority.issueClient(id, subject);
      writeKubeconfig(file, { cluster: name, server, caFile: this.caFile, user: subject.user, identity: client });
    }
    return file;
  }

  /** Makes a kubeconfig that holds a token and nothing else: the user may do what the token's owner may. It goes with the cluster. */
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

  /** Stops a component from running on (SIGSTOP): its connections stay open and nobody answers. */
  pause(component: ComponentName): void {
    this.#component(component).signal("SIGSTOP");
  }

  /** Lets a paused component go on. */
  resume(component: ComponentName): void {
    this.#component(component).signal("SIGCONT");
  }

  /** Ends a component without warning (SIGKILL). Resolves when it is gone; `restart` brings it back. */
  async kill(component: ComponentName): Promise<void> {
    this.#component(component).signal("SIGKILL");
    await this.#component(component).end();
  }

  /** Starts a component again on its own ports with its own data, ending it first if it runs. Resolves when it serves. */
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

/** Ends what was started in a run, with its real node if it has one, and closes its folder. */
export async function endCluster(folder: RunFolder, components: Iterable<Component>): Promise<void> {
  if (folder.read().realNode === null) await endComponents(components);
  else removeNode(folder);
  folder.close();
}

/** Ends components: etcd last, because kube-apiserver takes its leave there. */
async function endComponents(components: Iterable<Component>): Promise<void> {
  const all = [...components];
  // One that is paused would keep the others waiting for its answer.
  for (const component of all) component.signal("SIGCONT");
  const identities = (chosen: readonly Component[]): ProcessIdentity[] =>
    chosen.flatMap(({ identity }) => identity ?? []);
  await endProcesses(identities(all.filter(({ name }) => name !== "etcd")));
  await endProcesses(identities(all.filter(({ name }) => name === "etcd")));
}
