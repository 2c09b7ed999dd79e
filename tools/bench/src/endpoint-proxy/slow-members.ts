import { Agent, type IncomingMessage, request } from "node:http";
import { buffer } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import {
  BegunWrites,
  type Member,
  MemberAnswers,
  type MemberClient,
  PlacedSince,
} from "@evenkeel/endpoint-proxy/writes";
import { systemClock } from "@evenkeel/runtime";
import { type ApiServer, startApiServer } from "@evenkeel/sim";

const TOKEN = "token-of-alice";
const ROOM = { cpu: 1_000_000, memory: 2 ** 50, pods: 100_000 };
const COLLECTION = "/apis/apps/v1/namespaces/default/deployments";
const DRY_RUN = "?dryRun=All";
const REPLICAS = JSON.stringify({ spec: { replicas: 20 } });
const MERGE = "application/merge-patch+json";

type Method = "GET" | "POST" | "PATCH" | "DELETE";

interface Sent {
  readonly body?: Buffer | undefined;
  readonly contentType?: string | undefined;
}

/**
 * Three API servers that take `latency` milliseconds for each answer, and the answers of a proxy that has them as
 * members.
 */
export class SlowMembers implements AsyncDisposable {
  readonly #servers = new Map<string, ApiServer>();
  readonly #agent = new Agent({ keepAlive: true });
  readonly #answers: MemberAnswers;
  #count = 0;

  private constructor() {
    const members = ["a", "b", "c"].map((name, index): Member => {
      const score = {
        source: "watts",
        score: 100,
        free: ROOM,
        whole: ROOM,
        marginalWatts: 38 + index,
        age: 0,
      } as const;
      const about = { endpoint: "", original: false, label: name, standing: "Ready" } as const;
      return { name, own: index === 0, ...about, score };
    });
    const client: MemberClient = {
      ask: async ({ name }, _identity, { method, path, contentType, body }) => {
        const response = await this.#send(name, method as Method, path, { contentType, body });
        return {
          status: response.statusCode ?? 0,
          contentType: response.headers["content-type"] ?? "",
          warnings: [],
          body: response as AsyncIterable<Buffer>,
          read: async () => buffer(response),
          cancel: () => response.destroy(),
        };
      },
    };
    this.#answers = new MemberAnswers({
      members: { own: () => members[0], get: (name) => members.find((one) => one.name === name), all: () => members },
      client,
      layouts: { layout: () => ({ epoch: 1, slots: ["a", "b", "c"] }) },
      record: () => undefined,
      placedSince: new PlacedSince(),
      begunWrites: new BegunWrites(),
      clock: systemClock,
      ...{ labelKey: "wao-endpoint-proxy", dryRun: false, sayPlacement: true, followReferences: false },
      deadline: 10_000,
    });
  }

  static async start(latency: number): Promise<SlowMembers> {
    const world = new SlowMembers();
    const users = [{ name: "alice", groups: ["system:masters"], token: TOKEN }];
    const faults = async () => {
      await pause(latency);
      return "pass" as const;
    };
    for (const name of ["a", "b", "c"]) world.#servers.set(name, await startApiServer({ users, faults }));
    return world;
  }

  /** A new workload through the proxy; resolves with its name. */
  async post(): Promise<string> {
    const name = `web-${(this.#count += 1)}`;
    await this.#ask("POST", COLLECTION, deployment(name), "application/json", 201);
    return name;
  }

  /** A change of its replicas through the proxy. */
  async patch(name: string): Promise<void> {
    await this.#ask("PATCH", `${COLLECTION}/${name}`, REPLICAS, MERGE, 200);
  }

  /** The same to one member alone, each call after the other: dry run, commit. */
  async postInTurn(): Promise<string> {
    const name = `alone-${(this.#count += 1)}`;
    for (const query of [DRY_RUN, ""])
      await this.#call("POST", COLLECTION + query, deployment(name), "application/json");
    return name;
  }

  /** As a PATCH: read, dry run, commit. */
  async patchInTurn(name: string): Promise<void> {
    const path = `${COLLECTION}/${name}`;
    await this.#call("GET", path);
    for (const query of [DRY_RUN, ""]) await this.#call("PATCH", path + query, REPLICAS, MERGE);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#agent.destroy();
    for (const server of this.#servers.values()) await server.stop();
  }

  async #ask(method: string, path: string, body: string, type: string, expected: number): Promise<void> {
    let status = 0;
    const headers: Readonly<Record<string, string>> = { "content-type": type, accept: "application/json" };
    const answer = this.#answers.answer({
      ...{ method, path, identity: { user: "alice", uid: undefined, groups: [], extra: {} } },
      signal: new AbortController().signal,
      header: (name) => headers[name.toLowerCase()],
      body: () => Promise.resolve(Buffer.from(body)),
    });
    await answer?.({
      head: (code) => void (status = code),
      write: () => Promise.resolve(),
      end: () => undefined,
    });
    if (status !== expected) throw new Error(`${method} ${path} gave ${status}, not ${expected}`);
  }

  /** A call to the last member. */
  async #call(method: Method, path: string, body?: string, contentType?: string): Promise<void> {
    const sent = body === undefined ? {} : { body: Buffer.from(body), contentType };
    const response = await this.#send("c", method, path, sent);
    await buffer(response);
    if ((response.statusCode ?? 500) >= 300) throw new Error(`${method} ${path} gave ${response.statusCode}`);
  }

  #send(member: string, method: Method, path: string, { body, contentType }: Sent): Promise<IncomingMessage> {
    const headers = {
      ...{ authorization: `Bearer ${TOKEN}`, accept: "application/json" },
      ...(contentType === undefined ? {} : { "content-type": contentType }),
      ...(body === undefined ? {} : { "content-length": String(body.length) }),
    };
    const url = new URL(path, this.#servers.get(member)?.url);
    return new Promise((resolve, reject) => {
      const sent = request(url, { method, headers, agent: this.#agent }, resolve);
      sent.on("error", reject);
      sent.end(body);
    });
  }
}

function deployment(name: string): string {
  const labels = { app: name };
  const containers = [{ name: "main", image: "web:1", resources: { requests: { cpu: "100m" } } }];
  return JSON.stringify({
    ...{ apiVersion: "apps/v1", kind: "Deployment", metadata: { name, labels } },
    spec: { replicas: 10, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } },
  });
}
