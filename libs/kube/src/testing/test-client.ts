import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Clock, systemClock } from "@evenkeel/runtime";
import { connectKube, type KubeClient, type KubeOptions } from "../wire/client.ts";

/** A folder that is deleted with the test. */
export class TestFolder implements Disposable {
  readonly path = mkdtempSync(join(tmpdir(), "evenkeel-kube-"));

  file(name: string, content?: string): string {
    const path = join(this.path, name);
    if (content !== undefined) writeFileSync(path, content);
    return path;
  }

  /** A kubeconfig with one cluster and one user. JSON is YAML. */
  kubeconfig(cluster: object, user: object = {}): string {
    return this.file(
      "kubeconfig",
      JSON.stringify({
        apiVersion: "v1",
        kind: "Config",
        clusters: [{ name: "c", cluster }],
        users: [{ name: "u", user }],
        contexts: [{ name: "x", context: { cluster: "c", user: "u", namespace: "from-context" } }],
        "current-context": "x",
      }),
    );
  }

  /** A self-signed certificate for 127.0.0.1. */
  certificate(name: string): {
    readonly cert: string;
    readonly key: string;
    readonly certFile: string;
    readonly keyFile: string;
  } {
    const certFile = this.file(`${name}.crt`);
    const keyFile = this.file(`${name}.key`);
    const form = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
    const names = ["-subj", `/CN=${name}`, "-addext", "subjectAltName=IP:127.0.0.1"];
    execFileSync("openssl", ["req", "-x509", ...form, ...names, "-keyout", keyFile, "-out", certFile], {
      stdio: "ignore",
    });
    return { cert: readFileSync(certFile, "utf8"), key: readFileSync(keyFile, "utf8"), certFile, keyFile };
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true });
  }
}

/** A client that closes with the test. */
export function testClient(
  kubeconfig: string | undefined,
  options: Partial<Omit<KubeOptions, "settings">> & { readonly settings?: Partial<KubeOptions["settings"]> } = {},
): KubeClient & AsyncDisposable {
  const settings: KubeOptions["settings"] = {
    ...{ kubeconfig, kubeContext: undefined, kubeDeadline: 30_000, kubeConnections: 4, kubeQps: 0, kubeBurst: 1 },
    ...options.settings,
  };
  const client = connectKube({ env: {}, userAgent: "test/1", random: () => 0.5, ...options, settings });
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.stop() });
}

/** Real time, but waits from a tenth of a second up to nine seconds end at once. */
export class HurriedClock implements Clock {
  /** The waits that ended at once, in milliseconds. */
  readonly waits: number[] = [];
  /** How far this clock is ahead of real time, in milliseconds. */
  ahead = 0;

  now(): number {
    return systemClock.now() + this.ahead;
  }

  monotonic(): number {
    return systemClock.monotonic() + this.ahead;
  }

  schedule(delay: number, task: () => void): () => void {
    if (delay < 100 || delay >= 9_000) return systemClock.schedule(delay, task);
    this.waits.push(delay);
    return systemClock.schedule(0, () => {
      this.ahead += delay;
      task();
    });
  }
}
