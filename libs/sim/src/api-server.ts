import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import { type Clock, systemClock } from "@evenkeel/runtime";
import { parseAllDocuments } from "yaml";
import { Rbac } from "./access/rbac.ts";
import { Reviews } from "./access/reviews.ts";
import { type User, Users } from "./access/users.ts";
import type { Behaviour } from "./behaviours/behaviour.ts";
import { definitions } from "./behaviours/definitions.ts";
import { garbageCollection } from "./behaviours/garbage-collection.ts";
import { namespaceDeletion } from "./behaviours/namespace-deletion.ts";
import { fieldsOr, textOr, valueAt } from "./json.ts";
import { Objects } from "./objects/objects.ts";
import { Api } from "./serve/api.ts";
import { parseBody, readBody } from "./serve/body.ts";
import { discover } from "./serve/discovery.ts";
import { openApi } from "./serve/open-api.ts";
import { ApiFault, noSuchPath } from "./status.ts";
import { Store } from "./storage/store.ts";
import { TypeRegistry } from "./types/type-registry.ts";

/** What comes before each request: an answer of its own, a delay, a broken connection, or nothing. */
export type Faults = (
  request: IncomingMessage,
  response: ServerResponse,
) => Promise<"handled" | "pass"> | "handled" | "pass";

export interface ApiServerOptions {
  /** Who may sign in. A user in the group `system:masters` may do everything, others what RBAC grants. */
  readonly users: readonly User[];
  /** With a certificate the server speaks HTTPS. PEM. */
  readonly tls?: { readonly cert: string | Buffer; readonly key: string | Buffer };
  /** On loopback; a free one unless told. */
  readonly port?: number;
  readonly clock?: Clock;
  /** Uniform in [0, 1); names and uids come of it, so that a seeded one makes a run repeatable. */
  readonly random?: () => number;
  /** What the control plane does by itself; all that there is unless told. */
  readonly behaviours?: readonly Behaviour[];
  readonly faults?: Faults;
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
  readonly #faults: Faults;
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
    this.#users = new Users(users);
    this.#faults = options.faults ?? (() => "pass");
    const world = { store: this.#store, types: this.#types, clock };
    const objects = new Objects({ ...world, random });
    this.#objects = objects;
    const rbac = new Rbac(this.#store);
    this.#api = new Api({ ...world, objects, random, rbac, reviews: new Reviews(this.#users, rbac) });
    this.#stops = behaviours.map((behaviour) => behaviour({ ...world, objects }));
    const handle = (request: IncomingMessage, response: ServerResponse): void => void this.#handle(request, response);
    this.#secure = tls !== undefined;
    this.#server = tls === undefined ? createServer(handle) : createSecureServer(tls, handle);
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

  addUser(user: User): void {
    this.#users.add(user);
  }

  /**
   * Creates every object of a YAML text, such as a CRD file of the project. Fails if one is of a type that is not served: the types
   * of a definition are served a moment after it was created.
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
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      if ((await this.#faults(request, response)) === "pass") await this.#serve(request, response);
    } catch (error) {
      if (response.destroyed) return;
      const fault =
        error instanceof ApiFault
          ? error
          : new ApiFault(500, "InternalError", `Internal error occurred: ${String(error)}`);
      send(response, fault.code, fault.toStatus());
    }
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "GET", headers, url = "/" } = request;
    const { pathname, searchParams } = new URL(url, "http://sim");
    const path = pathname.replace(/\/+$/, "");
    const bytes = await readBody(request);
    const caller = this.#users.authenticate(headers);
    const found = method === "GET" ? (discover(this.#types, path) ?? openApi(this.#types, path)) : undefined;
    if (found !== undefined) {
      send(response, 200, found);
      return;
    }
    const [contentType = ""] = (headers["content-type"] ?? "application/json").split(";", 1);
    const answer = this.#api.answer(
      {
        ...{ method, path, query: searchParams, caller, contentType, body: parseBody(bytes, contentType) },
        ...{ accept: headers.accept ?? "*/*", userAgent: headers["user-agent"] ?? "unknown" },
      },
      response,
    );
    if (answer === undefined) return;
    for (const warning of answer.warnings ?? []) response.appendHeader("warning", `299 - ${JSON.stringify(warning)}`);
    send(response, answer.code, answer.body);
  }
}

function send(response: ServerResponse, code: number, body: object | string): void {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const type = typeof body === "string" ? "text/plain" : "application/json";
  response.writeHead(code, { "content-type": type, "content-length": Buffer.byteLength(text) }).end(text);
}
