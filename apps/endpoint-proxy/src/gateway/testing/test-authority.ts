import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface Pair {
  readonly cert: string;
  readonly key: string;
}

export interface Subject {
  readonly name: string;
  readonly organizations?: readonly string[];
  /** Negative for a certificate that has expired. */
  readonly days?: number;
  /** What the certificate may be used for; anything if undefined. */
  readonly use?: "serverAuth" | "clientAuth";
}

const KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];

/** A certificate authority of the openssl command, in a folder of its own until the test ends. */
export class TestAuthority implements Disposable {
  readonly #folder = mkdtempSync(join(tmpdir(), "endpoint-proxy-authority-"));
  #serial = 0;
  readonly cert: string;

  constructor(name = "test") {
    this.#openssl("req", "-x509", ...KEY, "-days", "2", "-subj", `/CN=${name}`, "-keyout", "ca.key", "-out", "ca.crt");
    this.cert = this.#read("ca.crt");
  }

  /** A certificate for servers at localhost and for clients. */
  issue({ name, organizations = [], days = 2, use }: Subject): Pair {
    const subject = `${organizations.map((one) => `/O=${one}`).join("")}/CN=${name}`;
    const serial = ["-set_serial", String(++this.#serial)];
    this.#openssl("req", "-utf8", ...KEY, "-subj", subject, "-keyout", "own.key", "-out", "own.csr");
    const names = "subjectAltName=DNS:localhost,IP:127.0.0.1\n";
    writeFileSync(join(this.#folder, "names"), use === undefined ? names : `${names}extendedKeyUsage=${use}\n`);
    const by = ["-CA", "ca.crt", "-CAkey", "ca.key", "-days", String(days), "-extfile", "names"];
    this.#openssl("x509", "-req", "-in", "own.csr", ...by, ...serial, "-out", "own.crt");
    return { cert: this.#read("own.crt"), key: this.#read("own.key") };
  }

  [Symbol.dispose](): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #read(name: string): string {
    return readFileSync(join(this.#folder, name), "utf8");
  }

  #openssl(...args: readonly string[]): void {
    execFileSync("openssl", args, { cwd: this.#folder, stdio: "pipe" });
  }
}
