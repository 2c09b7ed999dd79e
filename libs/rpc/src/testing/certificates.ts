import { execFileSync } from "node:child_process";
import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Files that a certificate authority wrote, as a Secret's volume holds them. */
export interface Files {
  readonly cert: string;
  readonly key: string;
  readonly ca: string;
}

/** A certificate authority, made by the openssl command, in a folder of its own until the test's end. */
export class Authority implements Disposable {
  readonly #folder = mkdtempSync(join(tmpdir(), "evenkeel-ca-"));
  #serial = 0;

  constructor(name: string) {
    this.#openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
      "-subj", `/CN=${name}`, "-keyout", this.#at("ca.key"), "-out", this.#at("ca.crt")); // prettier-ignore
  }

  /** Writes a new key and certificate for localhost under `name`, over what was there, each file by one rename. */
  issue(name: string): Files & { readonly serial: string } {
    const serial = (++this.#serial).toString(16).padStart(2, "0");
    const [key, request, cert, names] = ["key", "csr", "crt", "cnf"].map((kind) => this.#at(`${name}.${kind}.new`)) as [
      string,
      string,
      string,
      string,
    ];
    writeFileSync(names, "subjectAltName=DNS:localhost,IP:127.0.0.1\nextendedKeyUsage=serverAuth,clientAuth\n");
    this.#openssl(
      "req",
      "-newkey",
      "ec",
      "-pkeyopt",
      "ec_paramgen_curve:P-256",
      "-nodes",
      "-subj",
      `/CN=${name}`,
      "-keyout",
      key,
      "-out",
      request,
    );
    this.#openssl("x509", "-req", "-in", request, "-CA", this.#at("ca.crt"), "-CAkey", this.#at("ca.key"), "-set_serial", `0x${serial}`,
      "-days", "1", "-extfile", names, "-out", cert); // prettier-ignore
    const files = { cert: this.#at(`${name}.crt`), key: this.#at(`${name}.key`), ca: this.#at("ca.crt") };
    renameSync(key, files.key);
    renameSync(cert, files.cert);
    return { ...files, serial: serial.toUpperCase() };
  }

  [Symbol.dispose](): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #at(name: string): string {
    return join(this.#folder, name);
  }

  #openssl(...args: string[]): void {
    execFileSync("openssl", args, { stdio: "pipe" });
  }
}
