import { randomUUID } from "node:crypto";
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { clusterScores, type StoredClusterScore } from "@evenkeel/endpoint-proxy";
import { type ApiServer, Authority, startApiServer } from "@evenkeel/sim";

/** Of ClusterScores. */
export const NAMESPACE = "wao-system";
export const DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments";
/** Per mille of CPU that is requested in a cluster that is nearly full. */
export const HOT = 990;

interface Answered {
  readonly status: number;
  readonly body: string;
}

export function replicasIn(body: string): number {
  return (JSON.parse(body) as { readonly spec?: { readonly replicas?: number } }).spec?.replicas ?? 0;
}

/**
 * Another cluster: an API server, and the port for peers of its proxy, as far as it tells scores and passes requests
 * on.
 */
export class PeerCluster {
  readonly name: string;
  readonly authority: string;
  readonly #calm: number;
  #score: number;
  readonly #token = randomUUID();
  readonly #tls: { readonly cert: string; readonly key: string };
  #api: ApiServer | undefined;
  #server: Server | undefined;
  #port = 0;

  constructor(name: string, score: number) {
    this.name = name;
    this.#calm = score;
    this.#score = score;
    using authority = new Authority(name);
    this.authority = authority.cert;
    this.#tls = authority.server();
  }

  get endpoint(): string {
    return `https://127.0.0.1:${this.#port}`;
  }

  /** Nearly all of its CPU is requested, or as much as at the start. */
  heat(isHot: boolean): void {
    this.#score = isHot ? HOT : this.#calm;
  }

  /** Replicas of a Deployment; 0 if it does not have it. */
  async replicas(name: string): Promise<number> {
    const { status, body } = await this.#ask("GET", `${DEPLOYMENTS}/${name}`);
    return status === 200 ? replicasIn(body) : 0;
  }

  /** On the port that it had before, if it had one. */
  async start(): Promise<void> {
    if (this.#server) return;
    const users = [{ name: "proxy", groups: ["system:masters"], token: this.#token }];
    this.#api ??= await startApiServer({ users });
    const server = createServer(this.#tls, (request, response) => void this.#answer(request, response));
    server.listen(this.#port, "127.0.0.1");
    await once(server, "listening");
    this.#port = (server.address() as AddressInfo).port;
    this.#server = server;
  }

  /** Its objects stay. */
  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (!server) return;
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }

  async end(): Promise<void> {
    await this.stop();
    await this.#api?.stop();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "GET", url = "/", headers } = request;
    const scores = { kind: "ClusterScoreList", metadata: {}, items: [this.#object()] };
    const type = headers["content-type"] ?? "application/json";
    const { status, body } = url.includes("/clusterscores")
      ? { status: 200, body: JSON.stringify(scores) }
      : await this.#ask(method, url, await text(request), type);
    response.writeHead(status, { "content-type": "application/json" });
    response.end(body);
  }

  async #ask(method: string, path: string, body = "", type = "application/json"): Promise<Answered> {
    const headers = { authorization: `Bearer ${this.#token}`, "content-type": type, accept: "application/json" };
    const sent = body === "" ? {} : { body };
    const answer = await fetch(new URL(path, this.#api?.url), { method, headers, ...sent });
    return { status: answer.status, body: await answer.text() };
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
      status: {
        ...{ score: this.#score, source: "capacity", updateTimestamp, free, whole, clusterUid: `uid-${this.name}` },
        nodes: [{ name: `${this.name}-1`, score: this.#score }],
      },
    };
  }
}
