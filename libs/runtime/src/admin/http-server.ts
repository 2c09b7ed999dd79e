import type { Server as HttpsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { networkInterfaces } from "node:os";
import { fastify, type FastifyInstance } from "fastify";
import { CodedError, explain } from "../error.ts";
import { BadRequest, CannotListen, Internal, NoSuchPath, PortInUse } from "../errors.ts";
import type { Server } from "../lifecycle/index.ts";
import type { Logger } from "../log.ts";

export interface HttpServerOptions {
  readonly name: string;
  /** All addresses when absent. */
  readonly host?: string | undefined;
  /** 0 asks the system for a free one. */
  readonly port: number;
  /** The setting that chooses the port, for the error message. */
  readonly flag: string;
  /** Serve over TLS alone, with the certificate that `secure` gets. Handshakes fail until then. */
  readonly tls?: boolean | undefined;
  /** Gets the errors that callers are told nothing of. */
  readonly log?: Logger | undefined;
}

const TLS = { minVersion: "TLSv1.2", handshakeTimeout: 5000 } as const;

/** A fastify server with bounded requests, coded errors and a bounded drain. */
export class HttpServer implements Server {
  readonly name: string;
  /** Routes are added here before the process starts. */
  readonly routes: FastifyInstance;
  readonly #options: HttpServerOptions;
  #inFlight = 0;
  #draining = false;

  constructor(options: HttpServerOptions) {
    this.name = options.name;
    this.#options = options;
    this.routes = fastify({
      ...(options.tls && { https: TLS }),
      bodyLimit: 1024 * 1024,
      requestTimeout: 30_000,
      routerOptions: { maxParamLength: 512 },
      forceCloseConnections: "idle",
      // A parameter that a route does not know is refused, not dropped: it may be a filter with a slip in its name.
      ajv: { customOptions: { removeAdditional: false } },
    });
    this.routes.addHook("onRequest", (_request, reply, done) => {
      this.#inFlight += 1;
      reply.raw.once("close", () => {
        this.#inFlight -= 1;
        // Closing closes what is idle then. A connection that was busy would be kept alive, and the server open with
        // it.
        if (this.#draining) this.routes.server.closeIdleConnections();
      });
      done();
    });
    this.routes.addHook("onSend", (_request, reply, _payload, done) => {
      if (this.#draining) reply.header("connection", "close");
      done();
    });
    this.routes.setErrorHandler((error, request, reply) => {
      const { statusCode = 500, code } = error as { statusCode?: number; code?: string };
      if (statusCode < 500 || error instanceof CodedError) {
        return reply.code(statusCode).send({ code: code ?? BadRequest.entry.code, message: explain(error) });
      }
      // What went wrong inside is for the log; a caller could read paths, addresses and more out of it.
      options.log?.error({ error, method: request.method, path: request.routeOptions.url }, "a request failed");
      return reply.code(statusCode).send(refusal(new Internal({})));
    });
    this.routes.setNotFoundHandler(({ method }, reply) => reply.code(404).send(refusal(new NoSuchPath({ method }))));
  }

  /** The port that it listens on, once started. */
  get port(): number {
    return (this.routes.server.address() as AddressInfo | null)?.port ?? this.#options.port;
  }

  /** New connections get this certificate; those that are open keep theirs. Only for a server over TLS. */
  secure(certificate: { readonly cert?: Buffer | undefined; readonly key?: Buffer | undefined }): void {
    const { cert, key } = certificate;
    const server = this.routes.server as unknown as HttpsServer;
    server.setSecureContext({ minVersion: TLS.minVersion, ...(cert && { cert }), ...(key && { key }) });
  }

  async start(): Promise<void> {
    const { host, port, flag } = this.#options;
    const address = `${host ?? "*"}:${port}`;
    try {
      await this.routes.listen({ host: host ?? everywhere(), port });
    } catch (cause) {
      const fields = { server: this.name, address, flag: `--${flag}` };
      if ((cause as NodeJS.ErrnoException).code === "EADDRINUSE") throw new PortInUse(fields);
      throw new CannotListen(fields, { cause });
    }
  }

  async drain(deadline: AbortSignal): Promise<number> {
    this.#draining = true;
    let cut = 0;
    const cutAll = () => {
      cut = this.#inFlight;
      this.routes.server.closeAllConnections();
    };
    deadline.addEventListener("abort", cutAll, { once: true });
    if (deadline.aborted) cutAll();
    await this.routes.close();
    deadline.removeEventListener("abort", cutAll);
    return cut;
  }

  async stop(deadline: AbortSignal): Promise<void> {
    await this.drain(deadline);
  }
}

function refusal({ code, message }: CodedError): { readonly code: string; readonly message: string } {
  return { code, message };
}

/** Both families where the machine has IPv6; `::` cannot be listened on where it has not. */
function everywhere(): string {
  const hasIpv6 = Object.values(networkInterfaces()).some((addresses) =>
    addresses?.some(({ family }) => family === "IPv6"),
  );
  return hasIpv6 ? "::" : "0.0.0.0";
}
