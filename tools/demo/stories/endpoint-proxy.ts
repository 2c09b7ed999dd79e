import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { clusterScores, type StoredClusterScore } from "@evenkeel/endpoint-proxy";
import { namespaces } from "@evenkeel/kube";
import { Authority } from "@evenkeel/sim";
import type { Check, Control, Scene, Stage, Story } from "../src/story.ts";

const NAMESPACE = "wao-system";
const OWN = "harbour";

/** Three clusters know each other's scores, and one of them dies. */
const story: Story = {
  service: "endpoint-proxy",
  about: "clusters have scores, and one that does not answer gets no more replicas",
  open: async (stage) => {
    const peers = [new PeerCluster("osaka", 410), new PeerCluster("kyoto", 180)];
    for (const peer of peers) await peer.start();
    return new Clusters(stage, peers);
  },
};

export default story;

class Clusters implements Scene {
  readonly flags: readonly string[];
  readonly env = {};
  readonly controls: readonly Control[] = [
    { name: "die", label: "Kyoto dies", run: async () => this.#die() },
    { name: "revive", label: "Kyoto is back", run: async () => this.#revive() },
  ];
  readonly checks: readonly Check[] = [
    {
      name: "three clusters have a score",
      act: () => this.#create(),
      outcome: async () => {
        for (const name of [OWN, "osaka", "kyoto"]) await this.#is(name, "Scored");
      },
    },
    {
      name: "a cluster that does not answer is unreachable, and the others keep their scores",
      act: async () => {
        await this.#die();
      },
      outcome: async () => {
        await this.#is("kyoto", "Unreachable");
        await this.#is("osaka", "Scored");
      },
    },
    {
      name: "a cluster that is back has a score again",
      act: async () => {
        await this.#revive();
      },
      outcome: () => this.#is("kyoto", "Scored"),
    },
  ];
  readonly #stage: Stage;
  readonly #peers: readonly PeerCluster[];
  readonly #folder = mkdtempSync(join(tmpdir(), "evenkeel-demo-clusters-"));

  constructor(stage: Stage, peers: readonly PeerCluster[]) {
    this.#stage = stage;
    this.#peers = peers;
    const [pki, authorities] = ["pki", "peers"].map((name) => join(this.#folder, name)) as [string, string];
    for (const folder of [pki, authorities]) mkdirSync(folder);
    using authority = new Authority(OWN);
    const { cert, key } = authority.server(undefined, "wao-endpoint-proxy");
    writeFileSync(join(pki, "tls.crt"), cert);
    writeFileSync(join(pki, "tls.key"), key);
    for (const peer of peers) writeFileSync(join(authorities, peer.name), peer.authority);
    this.flags = [
      ...["--fetch-interval=1", `--cluster-name=${OWN}`, `--watch-namespaces=${NAMESPACE}`, "--port1=0", "--port2=0"],
      `--certificate-directory=${pki}`,
      `--peer-authorities=${authorities}`,
    ];
  }

  play(): () => void {
    void this.#create().catch((error: unknown) =>
      this.#stage.tell(`the ClusterScores were not created: ${String(error)}`),
    );
    return () => undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const peer of this.#peers) await peer.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #create(): Promise<void> {
    const { kube } = this.#stage;
    await kube.resource(namespaces).create({ metadata: { name: NAMESPACE } });
    const { group, version, kind } = clusterScores;
    for (const { name, endpoint } of this.#peers) {
      const object = { apiVersion: `${group}/${version}`, kind, metadata: { namespace: NAMESPACE, name } };
      await kube.resource(clusterScores).create({ ...object, spec: { endpoint } });
    }
  }

  async #die(): Promise<string> {
    await this.#peers[1]?.stop();
    return "kyoto does not answer any more";
  }

  async #revive(): Promise<string> {
    await this.#peers[1]?.start();
    return "kyoto answers again";
  }

  async #is(name: string, reason: string): Promise<void> {
    const found = await this.#stage.kube.resource(clusterScores).get({ namespace: NAMESPACE, name });
    const ready = found.status?.conditions?.find(({ type }) => type === "Ready");
    if (ready?.reason !== reason) throw new Error(`${name} is ${ready?.reason ?? "not judged yet"}, not ${reason}`);
  }
}

/** The port for peers of another cluster's proxy, as far as it tells scores. */
class PeerCluster {
  readonly name: string;
  readonly authority: string;
  readonly #score: number;
  readonly #tls: { readonly cert: string; readonly key: string };
  #server: Server | undefined;
  #port = 0;

  constructor(name: string, score: number) {
    this.name = name;
    this.#score = score;
    using authority = new Authority(name);
    this.authority = authority.cert;
    this.#tls = authority.server();
  }

  get endpoint(): string {
    return `https://127.0.0.1:${this.#port}`;
  }

  /** On the port that it had before, if it had one. */
  async start(): Promise<void> {
    if (this.#server) return;
    const server = createServer(this.#tls, (_request, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ kind: "ClusterScoreList", metadata: {}, items: [this.#object()] }));
    });
    server.listen(this.#port, "127.0.0.1");
    await once(server, "listening");
    this.#port = (server.address() as AddressInfo).port;
    this.#server = server;
  }

  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (!server) return;
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }

  #object(): StoredClusterScore {
    const { group, version, kind } = clusterScores;
    const updateTimestamp = new Date().toISOString();
    const whole = { cpu: 64_000, memory: 256 * 2 ** 30, pods: 880 };
    const free = { ...whole, cpu: Math.round(whole.cpu * (1 - this.#score / 1000)) };
    return {
      apiVersion: `${group}/${version}`,
      kind,
      metadata: { name: this.name, namespace: NAMESPACE },
      spec: { endpoint: this.endpoint, owncluster: true, region: this.name },
      status: { score: this.#score, source: "capacity", updateTimestamp, free, whole, clusterUid: `uid-${this.name}` },
    };
  }
}
