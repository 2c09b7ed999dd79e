import { createServer, type IncomingMessage, type Server, ServerResponse } from "node:http";
import { createServer as createSecureServer, Server as SecureServer, type ServerOptions } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import { type Clock, systemClock } from "@evenkeel/runtime";
import { parseAllDocuments } from "yaml";
import { impersonate } from "./access/impersonation.ts";
import { Rbac } from "./access/rbac.ts";
import { Reviews } from "./access/reviews.ts";
import { ServiceAccountTokens } from "./access/service-account-tokens.ts";
import { type Caller, type User, Users } from "./access/users.ts";
import type { Behaviour } from "./behaviours/behaviour.ts";
import { definitions } from "./behaviours/definitions.ts";
import { garbageCollection } from "./behaviours/garbage-collection.ts";
import { namespaceDeletion } from "./behaviours/namespace-deletion.ts";
import { fieldsOr, textOr, valueAt } from "./json.ts";
import { Objects } from "./objects/objects.ts";
import { aggregatedDiscovery } from "./serve/aggregated-discovery.ts";
import { Api } from "./serve/api.ts";
import { parseBody, readBody } from "./serve/body.ts";
import { discover } from "./serve/discovery.ts";
import { openApi } from "./serve/open-api.ts";
import { refuse, send, sendDocument } from "./serve/respond.ts";
import { noSuchPath } from "./status.ts";
import { Store } from "./storage/store.ts";
import type { PodStreams } from "./streams/pod-streams.ts";
import { TypeRegistry } from "./types/type-registry.ts";

/** What comes before each request: an answer of its own, a delay, a broken connection, or nothing. */
export type Faults = (
  request: IncomingMessage,
  response: ServerResponse,
) => Promise<"handled" | "pass"> | "handled" | "pass";

/** Who asked for what. */
export interface AuditEntry {
  readonly method: string;
  /** With its query. */
  readonly url: string;
  /** Whose rights count. */
  readonly user: Caller;
  /** Who impersonated that user. */
  readonly impersonator?: Caller;
}

export interface ApiServerOptions {
  /** Who may sign in. A user in the group `system:masters` may do everything, others what RBAC grants. */
  readonly users: readonly User[];
  /**
   * With a certificate the server speaks HTTPS. PEM. With `clientCa` it asks for client certificates and knows users by
   * those of that authority.
   */
  readonly tls?: {
    readonly cert: string | Buffer;
    readonly key: string | Buffer;
    readonly clientCa?: string | Buffer;
  };
  /** On loopback; a free one unless told. */
  readonly port?: number;
  readonly clock?: Clock;
  /** Uniform in [0, 1); names and uids come of it, so that a seeded one makes a run repeatable. */
  readonly random?: () => number;
  /** What the control plane does by itself; all that there is unless told. */
  readonly behaviours?: readonly Behaviour[];
  readonly faults?: Faults;
  /** What answers for containers: logs, exec, attach, port-forward. */
  readonly podStreams?: PodStreams;
  /** Called for each request that is authenticated, before it is authorized. */
  readonly audit?: (entry: AuditEntry) => void;
  /** Changes a type that are remembered for watches and for lists of the past. */
  readonly history?: number;
}

/** What a control plane does by itself without being asked to run workloads. */
export const controlPlane: readonly Behaviour[] = [definitions, garbageCollection, namespaceDeletion];

/** Brings up a Kubernetes API server in this process, on loopback. */
export async function startApiServer(options: ApiServerOptions): Promise<ApiServer> {
  const server = new ApiServer(options);
  await server.listen(options.port ?? 0);
  return server;
}

export class ApiServer {
  readonly #server: Server;
  readonly #secure: boolean;
  readonly #store: Store;
  readonly #users: Users;
  readonly #types = new TypeRegistry();
  readonly #objects: Objects;
  readonly #api: Api;
  readonly #rbac: Rbac;
  readonly #faults: Faults;
  readonly #audit: (entry: AuditEntry) => void;
  /** Connections that have left HTTP, which the server no longer closes by itself. */
  readonly #upgraded = new Set<Duplex>();
  readonly #stops: readonly (() => void)[];

  constructor(options: ApiServerOptions) {
    const {
      users,
      tls,
      clock = systemClock,
      random = Math.random,
      behaviours = controlPlane,
      history = 5000,
    } = options;
    this.#store = new Store({ history });
    const tokens = new ServiceAccountTokens(this.#store, clock, random);
    this.#users = new Users(users, tokens);
    this.#faults = options.faults ?? (() => "pass");
    this.#audit = options.audit ?? (() => undefined);
    const world = { store: this.#store, types: this.#types, clock };
    const objects = new Objects({ ...world, random });
    this.#objects = objects;
    const rbac = new Rbac(this.#store);
    this.#rbac = rbac;
    const reviews = new Reviews(this.#users, rbac);
    const { podStreams = {} } = options;
    this.#api = new Api({ ...world, objects, random, rbac, tokens, reviews, podStreams });
    this.#stops = behaviours.map((behaviour) => behaviour({ ...world, objects }));
    const handle = (request: IncomingMessage, response: ServerResponse): void => void this.#handle(request, response);
    this.#secure = tls !== undefined;
    this.#server = tls === undefined ? createServer(handle) : createSecureServer(serverTls(tls), handle);
    // As kube-apiserver. With Node's 5 s, clients of a busy process meet connections that were just closed.
    this.#server.keepAliveTimeout = 90_000;
    this.#server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      this.#upgraded.add(socket);
      socket.once("close", () => this.#upgraded.delete(socket));
      void this.#handleUpgrade(request, socket, head);
    });
    for (const name of ["default", "kube-system"])
      this.load(`{apiVersion: v1, kind: Namespace, metadata: {name: ${name}}}`);
  }

  /** Where clients reach it, such as `http://127.0.0.1:40123`. */
  get url(): string {
    const { port } = this.#server.address() as AddressInfo;
    return `${this.#secure ? "https" : "http"}://127.0.0.1:${port}`;
  }

  async listen(port: number): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(port, "127.0.0.1", resolve);
    });
  }

  /** Presents another certificate, and trusts other client authorities, on new connections. */
  renewTls(tls: NonNullable<ApiServerOptions["tls"]>): void {
    if (this.#server instanceof SecureServer) this.#server.setSecureContext(serverTls(tls));
  }

  addUser(user: User): void {
    this.#users.add(user);
  }

  /**
   * Creates every object of a YAML text, such as a CRD file of the project. Fails if one is of a type that is not
   * served: the types of a definition are served a moment after it was created.
   */
  load(manifests: string): void {
    for (const document of parseAllDocuments(manifests)) {
      const object = fieldsOr(document.toJS());
      if (Object.keys(object).length === 0) continue;
      const type = this.#types.ofKind(textOr(object["apiVersion"]), textOr(object["kind"]));
      if (type === undefined) throw noSuchPath();
      const namespace = type.namespaced ? textOr(valueAt(object, ["metadata", "namespace"]), "default") : undefined;
      this.#objects.create(type, namespace, object, { manager: "load", validation: "Strict" });
    }
  }

  /** Forgets the past: older versions and continue tokens have expired. */
  compact(): void {
    this.#store.compact();
  }

  /** Ends every request and watch. */
  async stop(): Promise<void> {
    for (const stop of this.#stops) stop();
    for (const socket of this.#upgraded) socket.destroy();
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }

  async #handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const response = new ServerResponse(request);
    response.assignSocket(socket as Socket);
    try {
      if ((await this.#faults(request, response)) === "handled") return;
      const { method = "GET", headers, url = "/" } = request;
      const { pathname, searchParams } = new URL(url, "http://sim");
      const caller = this.#identify(request);
      const call = { method, path: pathname, query: searchParams, caller, contentType: "", body: undefined };
      const client = { accept: headers.accept ?? "*/*", userAgent: headers["user-agent"] ?? "unknown" };
      response.detachSocket(socket as Socket);
      this.#api.upgrade({ ...call, ...client }, request, socket, head);
    } catch (error) {
      const refusal = new ServerResponse(request);
      refusal.assignSocket(socket as Socket);
      refusal.shouldKeepAlive = false;
      refuse(refusal, error);
      socket.end();
    }
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      if ((await this.#faults(request, response)) === "pass") await this.#serve(request, response);
    } catch (error) {
      if (!response.destroyed) refuse(response, error);
    }
  }

  /** Who the request is for. */
  #identify(request: IncomingMessage): Caller {
    const { method = "GET", url = "/" } = request;
    const caller = this.#users.authenticate(request);
    const user = impersonate(caller, request.headersDistinct, this.#rbac);
    this.#audit({ method, url, user, ...(user === caller ? {} : { impersonator: caller }) });
    return user;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "GET", headers, url = "/" } = request;
    const { pathname, searchParams } = new URL(url, "http://sim");
    const path = pathname.replace(/\/+$/, "");
    const bytes = await readBody(request);
    const caller = this.#identify(request);
    const accept = headers.accept ?? "*/*";
    const document = method === "GET" ? aggregatedDiscovery(this.#types, path, accept) : undefined;
    if (document !== undefined) {
      sendDocument(response, document, headers["if-none-match"]);
      return;
    }
    const found = method === "GET" ? (discover(this.#types, path) ?? openApi(this.#types, path)) : undefined;
    if (found !== undefined) {
      send(response, 200, found);
      return;
    }
    const [contentType = ""] = (headers["content-type"] ?? "application/json").split(";", 1);
    const answer = this.#api.answer(
      {
        ...{ method, path, query: searchParams, caller, contentType, body: parseBody(bytes, contentType) },
        ...{ accept, userAgent: headers["user-agent"] ?? "unknown" },
      },
      response,
    );
    if (answer === undefined) return;
    for (const warning of answer.warnings ?? []) response.appendHeader("warning", `299 - ${JSON.stringify(warning)}`);
    send(response, answer.code, answer.body);
  }
}

function serverTls({ cert, key, clientCa }: NonNullable<ApiServerOptions["tls"]>): ServerOptions {
  // A certificate that is not valid must get as far as a 401.
  const clients = clientCa === undefined ? {} : { ca: clientCa, requestCert: true, rejectUnauthorized: false };
  return { cert, key, ...clients };
}
