import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connectKube, type KubeClient } from "@evenkeel/kube";
import { kubeconfigFor } from "@evenkeel/testkit";

/** A client for an API server at `url`, with a token where it asks for one. */
export function benchClient(url: string, token?: string): KubeClient {
  const kubeconfig = join(mkdtempSync(join(tmpdir(), "bench-kube-")), "config");
  writeFileSync(kubeconfig, kubeconfigFor(url, { token: token ?? null }), { mode: 0o600 });
  const settings = {
    kubeconfig,
    kubeContext: undefined,
    kubeDeadline: 60_000,
    kubeConnections: 4,
    kubeQps: 0,
    kubeBurst: 100,
  };
  return connectKube({ settings, env: {}, userAgent: "bench" });
}
