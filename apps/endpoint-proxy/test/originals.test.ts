import { once } from "node:events";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import type { TLSSocket } from "node:tls";
import { eventually } from "@evenkeel/runtime/testing";
import { ADMIN } from "@evenkeel/testkit";
import { expect, test } from "@jest/globals";
import { TestAuthority } from "../src/gateway/testing/test-authority.ts";
import { conditionsOf, ProxyCluster } from "./proxy-cluster.ts";

const SCORES = "/apis/waoendpointproxy.bitmedia.co.jp/v1beta1/namespaces/wao-system/clusterscores";
const LEASES = "/apis/coordination.k8s.io/v1/namespaces/wao-system/leases";
const LEASE = "2bea73aa.bitmedia.co.jp";

interface Asked {
  readonly url: string;
  readonly authorization: string | undefined;
  readonly user: string | undefined;
  /** The subject of the client's certificate. */
  readonly certificate: string | undefined;
}

/** The port for peers of another cluster, which says what it was asked. It has a score, as an original writes it. */
class RecordingPeer implements Disposable {
  readonly asked: Asked[] = [];
  readonly authority: TestAuthority;
  readonly #server: Server;

  private constructor(name: string) {
    this.authority = new TestAuthority(name);
    const tls = { ...this.authority.issue({ name: "peer" }), requestCert: true, rejectUnauthorized: false };
    this.#server = createServer(tls, ({ url = "", headers, socket }, response) => {
      const subject = (socket as TLSSocket).getPeerX509Certificate()?.subject;
      const { authorization, "x-remote-user": user } = headers;
      this.asked.push({ url, authorization, user: user?.toString(), certificate: subject });
      const own = {
        metadata: { name, namespace: "wao-system" },
        spec: { endpoint: "https://kubernetes.default.svc", owncluster: true, region: name },
        status: { score: 300, nodes: [{ name: "node-1", score: 300 }] },
      };
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ kind: "ClusterScoreList", items: [own] }));
    });
  }

  static async start(name: string): Promise<RecordingPeer> {
    const peer = new RecordingPeer(name);
    await once(peer.#server.listen(0, "127.0.0.1"), "listening");
    return peer;
  }

  get endpoint(): string {
    return `https://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  [Symbol.dispose](): void {
    this.#server.close();
    this.#server.closeAllConnections();
    this.authority[Symbol.dispose]();
  }
}

test("the password goes to peers that are marked as originals alone, and nothing else goes to those", async () => {
  await using tokyo = await ProxyCluster.start("tokyo");
  using osaka = await RecordingPeer.start("osaka");
  using kyoto = await RecordingPeer.start("kyoto");
  tokyo.adopt("osaka", osaka, { "evenkeel.io/original": "true" });
  tokyo.adopt("kyoto", kyoto);
  tokyo.run("--basic-auth-username=wao", "--basic-auth-password=hunter22");
  await eventually(async () => {
    const scores = await tokyo.scores();
    for (const name of ["osaka", "kyoto"]) expect(scores[name]).toMatchObject({ status: { score: 300 } });
  });
  const authorization = `Basic ${Buffer.from("wao:hunter22").toString("base64")}`;
  const toOriginal = { url: SCORES, authorization, user: undefined, certificate: undefined };
  expect(new Set(osaka.asked.map((one) => JSON.stringify(one)))).toEqual(new Set([JSON.stringify(toOriginal)]));
  const toPeer = { url: SCORES, user: "evenkeel:endpoint-proxy", certificate: "CN=wao-endpoint-proxy" };
  expect(new Set(kyoto.asked.map((one) => JSON.stringify(one)))).toEqual(new Set([JSON.stringify(toPeer)]));
  expect(JSON.stringify(tokyo.process.lines)).not.toContain("hunter22");
});

test("nothing is written while the original's Lease is live, and all of it once the Lease is released", async () => {
  await using tokyo = await ProxyCluster.start("tokyo");
  using osaka = await RecordingPeer.start("osaka");
  tokyo.adopt("osaka", osaka);
  const headers = { authorization: `Bearer ${ADMIN.token}`, "content-type": "application/json" };
  const renewTime = new Date().toISOString().replace("Z", "000Z");
  const lease = {
    ...{ apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { name: LEASE, namespace: "wao-system" } },
    spec: { holderIdentity: "pod-1", leaseDurationSeconds: 600, renewTime },
  };
  const created = await fetch(`${tokyo.api.url}${LEASES}`, { method: "POST", headers, body: JSON.stringify(lease) });
  expect(created.status).toBe(201);
  const service = tokyo.run();
  await eventually(async () => {
    const list = await fetch(await service.url("admin", "/api/v1/Decisions/List"));
    expect(JSON.stringify(await list.json())).toContain("OriginalRuns");
  });
  const scores = await tokyo.scores();
  expect(Object.keys(scores)).toEqual(["osaka"]);
  expect(scores["osaka"]?.status).toBeUndefined();

  const patch = { ...headers, "content-type": "application/merge-patch+json" };
  const body = JSON.stringify({ spec: { holderIdentity: "" } });
  await fetch(`${tokyo.api.url}${LEASES}/${LEASE}`, { method: "PATCH", headers: patch, body });
  await eventually(async () => {
    const after = await tokyo.scores();
    expect(after["osaka"]).toMatchObject({ status: { score: 300 } });
    expect(conditionsOf(after["tokyo"])).toMatchObject({ Ready: "True/Scored" });
  }, 25_000);
});
