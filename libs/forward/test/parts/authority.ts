import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface Pair {
  readonly cert: string;
  readonly key: string;
}

/** A certificate authority of the openssl command, in a folder of its own until the test's end. */
export class Authority implements Disposable {
  readonly #folder = mkdtempSync(join(tmpdir(), "evenkeel-forward-"));
  #serial = 0;
  readonly cert: string;

  constructor(name = "test") {
    const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
    this.#openssl("req", "-x509", ...key, "-days", "2", "-subj", `/CN=${name}`, "-keyout", "ca.key", "-out", "ca.crt");
    writeFileSync(join(this.#folder, "names"), "subjectAltName=DNS:localhost,IP:127.0.0.1\n");
    this.cert = this.#read("ca.crt");
  }

  /** A new key and certificate for localhost, for servers and clients. A negative number of `days` is in the past. */
  issue(name = "localhost", days = 2): Pair {
    const serial = String(++this.#serial);
    const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
    this.#openssl("req", ...key, "-subj", `/CN=${name}`, "-keyout", "own.key", "-out", "own.csr");
    this.#openssl("x509", "-req", "-in", "own.csr", "-CA", "ca.crt", "-CAkey", "ca.key", "-set_serial", serial,
      "-days", String(days), "-extfile", "names", "-out", "own.crt"); // prettier-ignore
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
