import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { apply, chartAccount, get, kubectl, TEST_TIMEOUT_MS, useCluster } from "@evenkeel/e2e";
import { eventually } from "@evenkeel/runtime/testing";
import { definitionOf, ServiceProcess } from "@evenkeel/testkit";
import { beforeAll, expect, test } from "@jest/globals";
import { TestAuthority } from "../src/gateway/testing/test-authority.ts";

const main = join(import.meta.dirname, "../dist/main.mjs");
const cluster = useCluster({ name: "endpoint-proxy", nodes: 1 });
const namespace = "wao-system";

beforeAll(async () => {
  await kubectl(cluster(), ["apply", "-f", "-"], { input: definitionOf("clusterscores") });
  const crd = "clusterscores.waoendpointproxy.bitmedia.co.jp";
  await kubectl(cluster(), ["wait", "--for=condition=Established", "crd", crd, "--timeout=30s"]);
  await apply(cluster(), { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
}, TEST_TIMEOUT_MS);

test(
  "scores a real cluster without a region label, with the rights of its chart",
  async () => {
    const { kubeconfig } = await chartAccount(cluster(), { chart: "endpoint-proxy", namespace });
    const pki = mkdtempSync(join(tmpdir(), "endpoint-proxy-pki-"));
    using authority = new TestAuthority("osaka");
    const { cert, key } = authority.issue({ name: "wao-endpoint-proxy" });
    writeFileSync(join(pki, "tls.crt"), cert);
    writeFileSync(join(pki, "tls.key"), key);
    const ports = ["--port1=0", "--port2=0", `--certificate-directory=${pki}`, `--peer-authorities=${pki}/none`];
    const flags = [`--kubeconfig=${kubeconfig}`, "--insecure", "--grpc-port=0", "--state=sqlite::memory:"];
    await using service = ServiceProcess.start(main, [
      ...flags,
      ...ports,
      "--fetch-interval=1",
      "--cluster-name=osaka",
    ]);
    await service.phase("ready");
    await eventually(async () => {
      const object = await get(cluster(), "clusterscore", "osaka", `--namespace=${namespace}`);
      expect(object).toMatchObject({ spec: { owncluster: true }, status: { source: "capacity" } });
    });
    expect(service.lines.filter(({ level }) => level === "error")).toEqual([]);
    service.signal("SIGTERM");
    expect((await service.exit).code).toBe(0);
    rmSync(pki, { recursive: true });
  },
  TEST_TIMEOUT_MS,
);
