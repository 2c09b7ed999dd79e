import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A certificate of localhost that signs itself, and its key. */
export const CERTIFICATE: { readonly cert: string; readonly key: string } = make();

function make() {
  const folder = mkdtempSync(join(tmpdir(), "evenkeel-resolver-"));
  try {
    const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "key", "-out", "cert"];
    const names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"];
    execFileSync("openssl", ["req", "-x509", ...key, "-days", "2", ...names], { cwd: folder, stdio: "pipe" });
    return { cert: readFileSync(join(folder, "cert"), "utf8"), key: readFileSync(join(folder, "key"), "utf8") };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
