import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** PEM. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

export interface ClientSubject {
  /** CN: the user. */
  readonly user: string;
  /** O: the groups. */
  readonly groups?: readonly string[];
  /** Days that the certificate is valid from now; one that is negative makes it expired. Default 1. */
  readonly days?: number;
}

const KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];

/**
 * The certificate authority of a simulated cluster, by the openssl command, in a folder of its own until it is
 * disposed.
 */
export class Authority implements Disposable {
  readonly #folder = mkdtempSync(join(tmpdir(), "evenkeel-sim-ca-"));
  #serial = 0;
  /** Its own certificate, PEM. */
  readonly cert: string;

  constructor(name = "cluster") {
    // Without a configuration of its own, openssl would add the extensions of the machine's default one.
    writeFileSync(join(this.#folder, "openssl.cnf"), "[req]\ndistinguished_name = name\n[name]\n");
    const extensions = ["basicConstraints=critical,CA:TRUE", "keyUsage=critical,digitalSignature,keyCertSign,cRLSign"];
    const own = ["-days", "2", "-subj", `/CN=${name}`, "-keyout", "ca.key", "-out", "ca.crt"];
    this.#openssl(
      "req",
      "-x509",
      "-config",
      "openssl.cnf",
      ...KEY,
      ...own,
      ...extensions.flatMap((each) => ["-addext", each]),
    );
    this.cert = this.#read("ca.crt");
  }

  /** A client certificate, as kube-apiserver reads it. */
  client({ user, groups = [], days = 1 }: ClientSubject): Certificate {
    const escape = (value: string): string => value.replace(/[\\/+]/g, "\\$&");
    const subject = [...groups.map((group) => `/O=${escape(group)}`), `/CN=${escape(user)}`].join("");
    return this.#issue(subject, "extendedKeyUsage=clientAuth\n", days);
  }

  /** A server certificate for names such as `IP:127.0.0.1`; by default for loopback. */
  server(names: readonly string[] = ["IP:127.0.0.1", "DNS:localhost"], commonName = "server"): Certificate {
    return this.#issue(`/CN=${commonName}`, `extendedKeyUsage=serverAuth\nsubjectAltName=${names.join(",")}\n`, 1);
  }

  [Symbol.dispose](): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #issue(subject: string, extensions: string, days: number): Certificate {
    const serial = String(++this.#serial);
    writeFileSync(join(this.#folder, "extensions"), `basicConstraints=critical,CA:FALSE\n${extensions}`);
    this.#openssl(
      "req",
      "-config",
      "openssl.cnf",
      "-utf8",
      ...KEY,
      "-subj",
      subject,
      "-keyout",
      "own.key",
      "-out",
      "own.csr",
    );
    const issuer = ["-CA", "ca.crt", "-CAkey", "ca.key", "-set_serial", serial];
    this.#openssl(
      "x509",
      "-req",
      "-in",
      "own.csr",
      ...issuer,
      "-days",
      String(days),
      "-extfile",
      "extensions",
      "-out",
      "own.crt",
    );
    return { cert: this.#read("own.crt"), key: this.#read("own.key") };
  }

  #read(name: string): string {
    return readFileSync(join(this.#folder, name), "utf8");
  }

  #openssl(...args: readonly string[]): void {
    execFileSync("openssl", args, { cwd: this.#folder, stdio: "pipe" });
  }
}
