import type { X509Certificate } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { ConfigMap, ReadStore } from "@evenkeel/kube";
import { type Clock, type Component, explain, type Logger, toError } from "@evenkeel/runtime";
import { Authorities, certificatesOf } from "./authorities.ts";

/** Where kube-apiserver publishes the authority of its users. */
export const CLIENT_CA = { namespace: "kube-system", name: "extension-apiserver-authentication" };

export interface AuthorityFilesOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** Milliseconds between two readings. Files of a Secret are replaced by a link, which file watchers miss. */
  readonly interval: number;
}

/** Reads something again every interval. What cannot be used is logged once, and the last content stays in use. */
abstract class Reread implements Component {
  abstract readonly name: string;
  readonly #options: AuthorityFilesOptions;
  #fault = "";
  #cancel: () => void = () => undefined;
  #stopped = false;

  constructor(options: AuthorityFilesOptions) {
    this.#options = options;
  }

  protected abstract read(): Promise<void>;

  async start(): Promise<void> {
    await this.reload();
    this.#schedule();
  }

  stop(): void {
    this.#stopped = true;
    this.#cancel();
  }

  /** Reads now. Never rejects. */
  async reload(): Promise<void> {
    try {
      await this.read();
      this.#fault = "";
    } catch (thrown) {
      const fault = explain(thrown);
      if (fault !== this.#fault) {
        this.#options.log.error({ error: toError(thrown) }, `${this.name} cannot be read; the last ones stay in use`);
      }
      this.#fault = fault;
    }
  }

  #schedule(): void {
    if (this.#stopped) return;
    this.#cancel = this.#options.clock.schedule(this.#options.interval, () => {
      void this.reload().then(() => this.#schedule());
    });
  }
}

/** The authorities of users, from a file. */
export class ClientCaFile extends Reread {
  readonly name = "client authorities";
  readonly #file: string;
  readonly #use: (pem: string) => void;

  constructor(options: AuthorityFilesOptions, file: string, use: (pem: string) => void) {
    super(options);
    this.#file = file;
    this.#use = use;
  }

  protected override async read(): Promise<void> {
    const pem = await readFile(this.#file, "utf8");
    if (certificatesOf(pem).length === 0) throw new Error(`${this.#file} has no certificate`);
    this.#use(pem);
  }
}

/** The authorities of users, from the ConfigMap that kube-apiserver writes. */
export function followClientCa(store: ReadStore<ConfigMap>, log: Logger, use: (pem: string) => void): () => void {
  const key = `${CLIENT_CA.namespace}/${CLIENT_CA.name}`;
  return store.subscribe((change) => {
    if (change.key !== key || change.type === "deleted") return;
    try {
      const pem = change.object.data?.["client-ca-file"] ?? "";
      if (certificatesOf(pem).length === 0) throw new Error("it has no certificate");
      use(pem);
    } catch (thrown) {
      log.error(
        { error: toError(thrown) },
        `client-ca-file of ConfigMap ${key} cannot be used; the last one stays in use`,
      );
    }
  });
}

/** The authorities of peers: a folder with one file for each peer, named after it. */
export class PeerAuthorities extends Reread {
  readonly name = "peers' authorities";
  /** Of all peers together. */
  readonly all = new Authorities();
  readonly #folder: string;
  readonly #changed: () => void;
  #byPeer: ReadonlyMap<string, readonly X509Certificate[]> = new Map();
  #pems: ReadonlyMap<string, string> = new Map();

  constructor(options: AuthorityFilesOptions, folder: string, changed: () => void) {
    super(options);
    this.#folder = folder;
    this.#changed = changed;
  }

  byPeer(): ReadonlyMap<string, readonly X509Certificate[]> {
    return this.#byPeer;
  }

  /** In PEM; undefined for a peer without an entry. */
  pemOf(peer: string): string | undefined {
    return this.#pems.get(peer);
  }

  protected override async read(): Promise<void> {
    const pems = new Map<string, string>();
    for (const file of (await listed(this.#folder)).sort()) {
      pems.set(file.replace(/\.(crt|pem)$/, ""), await readFile(join(this.#folder, file), "utf8"));
    }
    const byPeer = new Map(Array.from(pems, ([name, pem]) => [name, certificatesOf(pem)] as const));
    const isChanged =
      pems.size !== this.#pems.size || Array.from(pems).some(([name, pem]) => this.#pems.get(name) !== pem);
    if (!isChanged) return;
    this.all.replace(Array.from(pems.values()).join("\n"));
    this.#pems = pems;
    this.#byPeer = byPeer;
    this.#changed();
  }
}

/** The names of files but the hidden ones, which a mounted Secret has; none if there is no such folder. */
async function listed(folder: string): Promise<string[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    return entries.filter((entry) => !entry.name.startsWith(".") && !entry.isDirectory()).map(({ name }) => name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}
