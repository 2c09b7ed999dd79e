import { execFile } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { ControlPlaneError, isSystemError, messageOf } from "./errors.ts";

const run = promisify(execFile);

const VALID_DAYS = "365";

/** Without its own configuration, openssl would add the extensions of the machine's default configuration. */
const OPENSSL_CONFIGURATION = "[req]\ndistinguished_name = name\n[name]\n";

/** Paths of PEM files. */
export interface CertificateFiles {
  readonly certificate: string;
  readonly key: string;
}

/** The identity in a client certificate: Kubernetes reads the user from CN and the groups from O. */
export interface Subject {
  readonly user: string;
  readonly groups?: readonly string[];
}

/** The subject in openssl's notation. A slash, a plus sign and a backslash are escaped. */
export function subjectLine({ user, groups = [] }: Subject): string {
  const escape = (value: string): string => value.replace(/[\\/+]/g, "\\$&");
  return [...groups.map((group) => `/O=${escape(group)}`), `/CN=${escape(user)}`].join("");
}

/** A certificate authority in one folder, with every certificate that it issued. */
export class CertificateAuthority {
  readonly folder: string;
  readonly files: CertificateFiles;
  readonly #configuration: string;

  private constructor(folder: string) {
    this.folder = folder;
    this.files = filesOf(folder, "ca");
    this.#configuration = join(folder, "openssl.cnf");
  }

  static async create(folder: string, commonName: string): Promise<CertificateAuthority> {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const authority = new CertificateAuthority(folder);
    writeFileSync(authority.#configuration, OPENSSL_CONFIGURATION);
    await authority.#make(authority.files, subjectLine({ user: commonName }), [
      "basicConstraints=critical,CA:TRUE",
      "keyUsage=critical,digitalSignature,keyCertSign,cRLSign",
    ]);
    return authority;
  }

  /** Issues a client certificate for `subject`. */
  async issueClient(name: string, subject: Subject): Promise<CertificateFiles> {
    return this.#issue(name, subjectLine(subject), ["extendedKeyUsage=clientAuth"]);
  }

  /** Issues a server certificate for these addresses, such as `IP:127.0.0.1` and `DNS:localhost`. */
  async issueServer(name: string, addresses: readonly string[]): Promise<CertificateFiles> {
    return this.#issue(name, subjectLine({ user: name }), [
      "extendedKeyUsage=serverAuth",
      `subjectAltName=${addresses.join(",")}`,
    ]);
  }

  async #issue(name: string, subject: string, extensions: readonly string[]): Promise<CertificateFiles> {
    const files = filesOf(this.folder, name);
    const issuer = ["-CA", this.files.certificate, "-CAkey", this.files.key];
    await this.#make(files, subject, ["basicConstraints=critical,CA:FALSE", ...extensions], issuer);
    return files;
  }

  async #make(
    files: CertificateFiles,
    subject: string,
    extensions: readonly string[],
    issuer: readonly string[] = [],
  ): Promise<void> {
    await openssl([
      ...["req", "-x509", "-config", this.#configuration, "-utf8", "-sha256", "-days", VALID_DAYS, "-subj", subject],
      ...["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"],
      ...["-keyout", files.key, "-out", files.certificate],
      ...issuer,
      ...extensions.flatMap((extension) => ["-addext", extension]),
    ]);
  }
}

/** Creates a key pair without a certificate, which signs and verifies service account tokens. */
export async function makeKeyPair(privateKey: string, publicKey: string): Promise<void> {
  await openssl(["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-out", privateKey]);
  await openssl(["pkey", "-in", privateKey, "-pubout", "-out", publicKey]);
}

function filesOf(folder: string, name: string): CertificateFiles {
  return { certificate: join(folder, `${name}.crt`), key: join(folder, `${name}.key`) };
}

async function openssl(args: readonly string[]): Promise<void> {
  try {
    await run("openssl", args);
  } catch (error) {
    const reason = isSystemError(error, "ENOENT")
      ? "`openssl` is not on the PATH; install the package openssl"
      : `openssl failed: ${messageOf(error)}`;
    throw new ControlPlaneError("EK_CLUSTER_CERTIFICATE", reason, { cause: error });
  }
}
