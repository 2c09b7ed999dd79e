import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createSecureContext } from "node:tls";
import { type Clock, type Component, explain, type Logger } from "@evenkeel/runtime";
import { BadCertificate } from "../errors.ts";
import type { CertificateMetrics } from "../metrics.ts";

/** PEM texts that belong together. */
export interface Certificates {
  readonly cert?: Buffer | undefined;
  readonly key?: Buffer | undefined;
  /** Whom to trust; the system's authorities if absent. */
  readonly ca?: Buffer | undefined;
}

export interface CertificateFilesOptions {
  readonly files: {
    readonly cert?: string | undefined;
    readonly key?: string | undefined;
    readonly ca?: string | undefined;
  };
  /** Milliseconds between two readings. */
  readonly interval: number;
  readonly clock: Clock;
  readonly log: Logger;
  /** Of these files alone: `certificateMetrics`, or metrics of a service that has further certificates. */
  readonly metrics: CertificateMetrics;
}

/**
 * Certificates in files that another program renews. They are read again every interval rather than watched: a Secret's
 * volume is renewed by swapping a link, which file watchers miss. What cannot be used together (half of a renewal, a
 * wrong key) is refused, and what was in use stays in use.
 */
export class CertificateFiles implements Component {
  readonly name = "certificates";
  readonly #options: CertificateFilesOptions;
  readonly #metrics: CertificateMetrics;
  readonly #listeners = new Set<(certificates: Certificates) => void>();
  #current: Certificates = {};
  #refused = "";
  #cancel: () => void = () => undefined;
  #stopped = false;

  constructor(options: CertificateFilesOptions) {
    this.#options = options;
    this.#metrics = options.metrics;
  }

  /** Those in use; none before the start. */
  get current(): Certificates {
    return this.#current;
  }

  /** Calls `listener` with each renewal, until the returned function is called. */
  onChange(listener: (certificates: Certificates) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async start(): Promise<void> {
    this.#use(await this.#read());
    this.#schedule();
  }

  stop(): void {
    this.#stopped = true;
    this.#cancel();
  }

  /** Reads the files now. Never rejects: what cannot be used is logged, once for each fault. */
  async reload(): Promise<void> {
    try {
      const read = await this.#read();
      const changed = (["cert", "key", "ca"] as const).some((part) => !same(read[part], this.#current[part]));
      this.#metrics.reads.inc({ outcome: changed ? "changed" : "same" });
      this.#refused = "";
      if (!changed) return;
      this.#use(read);
      this.#options.log.info({ component: this.name }, "certificates renewed; new connections use them");
    } catch (error) {
      this.#metrics.reads.inc({ outcome: "refused" });
      const fault = explain(error);
      if (fault !== this.#refused)
        this.#options.log.error({ component: this.name, error }, `${fault}; the current ones stay in use`);
      this.#refused = fault;
    }
  }

  #schedule(): void {
    if (this.#stopped) return;
    this.#cancel = this.#options.clock.schedule(this.#options.interval, () => {
      void this.reload().then(() => this.#schedule());
    });
  }

  async #read(): Promise<Certificates> {
    const { files } = this.#options;
    try {
      const [cert, key, ca] = await Promise.all([read(files.cert), read(files.key), read(files.ca)]);
      const certificates = { cert, key, ca };
      createSecureContext(certificates);
      return certificates;
    } catch (cause) {
      throw new BadCertificate({ files: Object.values(files).filter(Boolean).join(", ") }, { cause });
    }
  }

  #use(certificates: Certificates): void {
    this.#current = certificates;
    if (certificates.cert) {
      this.#metrics.expiry.set({}, new X509Certificate(certificates.cert).validToDate.getTime() / 1000);
    }
    for (const listener of this.#listeners) listener(certificates);
  }
}

function read(file: string | undefined): Promise<Buffer | undefined> {
  return file === undefined ? Promise.resolve(undefined) : readFile(file);
}

function same(a: Buffer | undefined, b: Buffer | undefined): boolean {
  return a === undefined || b === undefined ? a === b : a.equals(b);
}
