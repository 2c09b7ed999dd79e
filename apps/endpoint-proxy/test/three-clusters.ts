import { Agent, type IncomingMessage, request as httpRequest, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { FakeClock } from "@evenkeel/runtime/testing";
import { type ApiServer, startApiServer } from "@evenkeel/sim";
import { type Json, parseJson } from "../src/bodies/json-text.ts";
import type { SplitVerdict } from "../src/decide/split.ts";
import type { Identity } from "../src/gateway/identity.ts";
import type { MemberAnswer, MemberClient, MemberRequest } from "../src/members/member-client.ts";
import type { Member, MemberScore } from "../src/members/member.ts";
import { BegunWrites } from "../src/writes/begun-writes.ts";
import { MemberAnswers } from "../src/writes/member-answers.ts";
import type { AnswersOptions } from "../src/writes/options.ts";
import { PlacedSince } from "../src/writes/placed-since.ts";

const TOKEN = "secret";
const ALICE: Identity = {
  user: "alice",
  uid: undefined,
  groups: [],
  extra: {},
};
const ROOMY = { cpu: 1_000_000, memory: 2 ** 50, pods: 100_000 };

/** What goes wrong with a request: an answer in the server's place, no answer, or a broken connection. */
export type Trouble =
  | { readonly status: number; readonly message?: string; readonly retryAfter?: number; readonly text?: string }
  /** What happens meanwhile; then the server answers. */
  | (() => Promise<unknown>)
  | "hang"
  | "cut"
  | "cut after";

export interface TroubleRule {
  readonly cluster: string;
  readonly trouble: Trouble;
  readonly hits: (request: { readonly method: string; readonly path: string; readonly isDryRun: boolean }) => boolean;
}

export interface Got {
  readonly status: number;
  readonly json: Json;
  readonly text: string;
  readonly warnings: readonly string[];
  /** As in the header of this name. */
  readonly retryAfter?: string | undefined;
}

/** Three embedded Kubernetes API servers, `a` (the own one), `b` and `c`, and the answers that are made of theirs. */
export class ThreeClusters {
  readonly clock = new FakeClock();
  readonly verdicts: SplitVerdict[] = [];
  readonly troubles = new Set<TroubleRule>();
  /** Each request that a cluster got: `b PATCH dry-run`. */
  readonly seen: string[] = [];
  /** Gets the Accept header of each request to a member, where it is set. */
  accepts: string[] | undefined;
  readonly #servers = new Map<string, ApiServer>();
  readonly #agent = new Agent({ keepAlive: true });
  readonly #options: Partial<AnswersOptions>;
  #members: readonly Member[] = [];
  #answers: MemberAnswers;
  /** What the answers of the last proxy are made with. */
  options!: AnswersOptions;

  private constructor(options: Partial<AnswersOptions>) {
    this.#options = options;
    this.#answers = this.#answersOf({});
  }

  static async start(options: Partial<AnswersOptions> = {}): Promise<ThreeClusters> {
    const world = new ThreeClusters(options);
    const users = [{ name: "alice", groups: ["system:masters"], token: TOKEN }];
    for (const name of ["a", "b", "c"]) {
      const faults = async (request: IncomingMessage, response: ServerResponse) =>
        world.#trouble(name, request, response);
      world.#servers.set(name, await startApiServer({ users, faults }));
    }
    world.score({ a: 38, b: 41, c: 40 });
    return world;
  }

  #answersOf(change: Partial<AnswersOptions>): MemberAnswers {
    return new MemberAnswers((this.options = this.#optionsOf(change)));
  }

  #optionsOf(change: Partial<AnswersOptions>): AnswersOptions {
    const layout = { epoch: 1, slots: ["a", "b", "c"] };
    return {
      members: {
        own: () => this.#members.find(({ own }) => own),
        get: (name) => this.#members.find((member) => member.name === name),
        // New objects each time, as the store of the service makes them.
        all: () => this.#members.map((member) => ({ ...member })),
      },
      client: {
        ask: async (member, _identity, request) => this.#ask(member, request),
      } satisfies MemberClient,
      layouts: { layout: () => layout },
      record: (verdict) => void this.verdicts.push(verdict),
      ...{
        placedSince: new PlacedSince(),
        begunWrites: new BegunWrites(),
        clock: this.clock,
        labelKey: "wao-endpoint-proxy",
      },
      ...{ dryRun: false, sayPlacement: true, followReferences: false, deadline: 2000 },
      ...this.#options,
      ...change,
    };
  }

  /** Marginal watts of each member. A member that is not named takes no part. */
  score(watts: Readonly<Record<string, number>>, more: Readonly<Record<string, Partial<Member>>> = {}): void {
    this.#answers = this.#answersOf({});
    this.#members = Object.entries(watts).map(([name, marginalWatts]) => {
      const own = name === "a";
      const score: MemberScore = {
        source: "watts",
        score: 100,
        free: ROOMY,
        whole: ROOMY,
        marginalWatts,
        age: 0,
      };
      return {
        name,
        own,
        endpoint: "",
        original: false,
        label: own ? "local" : `region-${name}`,
        standing: "Ready",
        score,
        ...more[name],
      };
    });
  }

  /** The answers of another replica. */
  answersWith(change: Partial<AnswersOptions>): MemberAnswers {
    return this.#answersOf(change);
  }

  /** The answers of another cluster's proxy. */
  proxyOf(own: string): MemberAnswers {
    const all = () =>
      this.#members
        .map((member) => ({ ...member, own: member.name === own }))
        .toSorted((a, b) => Number(b.own) - Number(a.own));
    const get = (name: string) => all().find((member) => member.name === name);
    return this.#answersOf({ members: { own: () => get(own), get, all } });
  }

  /** Adds a trouble; returns what takes it back. */
  trouble(rule: TroubleRule): () => void {
    this.troubles.add(rule);
    return () => this.troubles.delete(rule);
  }

  /** As a client of the proxy. */
  async ask(
    method: string,
    path: string,
    body?: string | Buffer,
    headers: Record<string, string> = {},
    answers = this.#answers,
  ): Promise<Got> {
    const parts: Buffer[] = [];
    const head = { status: 0, headers: [] as readonly string[] };
    const all: Record<string, string> = {
      "content-type": "application/json",
      accept: "application/json",
      ...headers,
    };
    const answer = answers.answer({
      ...{
        method,
        path,
        identity: ALICE,
        signal: new AbortController().signal,
      },
      header: (name) => all[name.toLowerCase()],
      body: () => Promise.resolve(Buffer.from(body ?? "")),
    });
    if (answer === undefined) throw new Error(`${method} ${path} is the own cluster's alone`);
    await answer({
      head: (status, names) => void Object.assign(head, { status, headers: names }),
      write: (part) => Promise.resolve(void parts.push(Buffer.from(part))),
      end: () => undefined,
    });
    const text = Buffer.concat(parts).toString();
    const isJson = head.headers.join(" ").includes("json");
    const valuesOf = (name: string) => head.headers.filter((_value, index) => head.headers[index - 1] === name);
    const warnings = valuesOf("warning");
    return {
      retryAfter: valuesOf("retry-after")[0],
      status: head.status,
      json: isJson ? parseJson(text) : null,
      text,
      warnings,
    };
  }

  /** Whether a request is left to the own cluster. */
  isOwn(method: string, path: string): boolean {
    const request = {
      method,
      path,
      identity: ALICE,
      signal: new AbortController().signal,
    };
    return (
      this.#answers.answer({
        ...request,
        header: () => undefined,
        body: () => Promise.resolve(Buffer.alloc(0)),
      }) === undefined
    );
  }

  /** As a client of one cluster. */
  async direct(cluster: string, method: string, path: string, body?: string, type = "application/json"): Promise<Got> {
    const headers = {
      authorization: `Bearer ${TOKEN}`,
      "content-type": type,
      "x-test": "direct",
    };
    const url = this.#servers.get(cluster)?.url ?? "";
    const response = await fetch(`${url}${path}`, {
      method,
      headers,
      ...(body === undefined ? {} : { body }),
    });
    const text = await response.text();
    return {
      status: response.status,
      json: parseJson(text),
      text,
      warnings: [],
    };
  }

  /** The object in each cluster; undefined where it does not exist. */
  async each(path: string): Promise<Record<string, Json | undefined>> {
    const got = await Promise.all(
      ["a", "b", "c"].map(async (name) => [name, await this.direct(name, "GET", path)] as const),
    );
    return Object.fromEntries(got.map(([name, { status, json }]) => [name, status === 200 ? json : undefined]));
  }

  async stop(): Promise<void> {
    this.#agent.destroy();
    await Promise.all([...this.#servers.values()].map(async (server) => server.stop()));
  }

  async #trouble(cluster: string, request: IncomingMessage, response: ServerResponse): Promise<"handled" | "pass"> {
    if (request.headers["x-test"] === "direct") return "pass";
    const { method = "", url: path = "" } = request;
    const isDryRun = path.includes("dryRun=All");
    this.accepts?.push(request.headers.accept ?? "");
    this.seen.push(`${cluster} ${method}${isDryRun ? " dry-run" : ""}`);
    const rule = [...this.troubles].find((one) => one.cluster === cluster && one.hits({ method, path, isDryRun }));
    if (rule === undefined) return "pass";
    if (typeof rule.trouble === "function") {
      this.troubles.delete(rule);
      await rule.trouble();
      return "pass";
    }
    if (rule.trouble === "hang") return "handled";
    if (rule.trouble === "cut") response.destroy();
    if (rule.trouble === "cut after") {
      response.end = (() => response.destroy()) as typeof response.end;
      return "pass";
    }
    if (typeof rule.trouble === "string") return "handled";
    const { status, message = "trouble", retryAfter, text } = rule.trouble;
    const reason = status === 409 ? "Conflict" : status === 400 ? "BadRequest" : "Trouble";
    const again = retryAfter === undefined ? {} : { "retry-after": String(retryAfter) };
    response.writeHead(status, { "content-type": "application/json", ...again });
    const said = { kind: "Status", apiVersion: "v1", status: "Failure", reason, code: status, message };
    response.end(text ?? JSON.stringify(said));
    return "handled";
  }

  async #ask(
    { name }: Member,
    { method, path, contentType, accept, body, signal }: MemberRequest,
  ): Promise<MemberAnswer> {
    const url = new URL(path, this.#servers.get(name)?.url);
    const headers = {
      authorization: `Bearer ${TOKEN}`,
      ...(contentType === undefined ? {} : { "content-type": contentType }),
      ...(accept === undefined ? {} : { accept }),
      ...(body === undefined ? {} : { "content-length": String(body.length) }),
    };
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const sent = httpRequest(url, { method, headers, agent: this.#agent, signal }, resolve);
      sent.on("error", reject);
      sent.end(body);
    });
    const warnings = [response.headers["warning"] ?? []].flat().map((text) => /"(.*)"/.exec(text)?.[1] ?? text);
    return {
      status: response.statusCode ?? 0,
      contentType: response.headers["content-type"] ?? "",
      warnings,
      retryAfter: response.headers["retry-after"] === undefined ? undefined : Number(response.headers["retry-after"]),
      body: response as AsyncIterable<Buffer>,
      read: async () => buffer(response),
      cancel: () => response.destroy(),
    };
  }
}

export const DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments";

/** A Deployment with a field that no server knows. */
export function deployment(name: string, replicas?: number): Record<string, unknown> {
  const labels = { app: name };
  const containers = [
    {
      name: "main",
      image: "web:1",
      resources: { requests: { cpu: "100m" } },
      brandNew: 1,
    },
  ];
  return {
    ...{
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name, labels },
    },
    spec: {
      ...(replicas === undefined ? {} : { replicas }),
      ...{
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers } },
      },
    },
  };
}
