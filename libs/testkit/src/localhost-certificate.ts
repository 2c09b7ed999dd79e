import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** In PEM. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/** A certificate of localhost that signs itself. */
export function localhostCertificate(): Certificate {
  const folder = mkdtempSync(join(tmpdir(), "evenkeel-certificate-"));
  try {
    const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "key", "-out", "cert"];
    const names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"];
    execFileSync("openssl", ["req", "-x509", ...key, "-days", "2", ...names], { cwd: folder, stdio: "pipe" });
    return { cert: readFileSync(join(folder, "cert"), "utf8"), key: readFileSync(join(folder, "key"), "utf8") };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
