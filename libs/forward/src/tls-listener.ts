import { constants } from "node:crypto";
import type { Socket } from "node:net";
import { createSecureContext, createServer, type Server, type TlsOptions, type TLSSocket } from "node:tls";
import { toError } from "@evenkeel/runtime";
import { keepCertificate } from "./client/client-certificate.ts";
import { BadTlsMaterial } from "./errors.ts";

/** Accepts TLS on connections of a listener, and renews its certificates while it runs. */
export class TlsListener {
  readonly #name: string;
  readonly #serve: (socket: TLSSocket) => void;
  #server: Server;
  #options: TlsOptions;

  constructor(name: string, options: TlsOptions, serve: (socket: TLSSocket) => void) {
    this.#name = name;
    this.#serve = serve;
    this.#options = options;
    this.#server = this.#create(options);
  }

  accept(socket: Socket): void {
    this.#server.emit("connection", socket);
  }

  /** Throws if the material is unusable. What was in force then stays. */
  renew(options: TlsOptions): void {
    const renewed = { ...this.#options, ...options };
    this.#server = this.#create(renewed);
    this.#options = renewed;
  }

  /** One for each set of material, so that a handshake that outlasts a renewal is not taken for one after it. */
  #create(options: TlsOptions): Server {
    const server = createServer({ ...this.#usable(options), ALPNProtocols: ["h2", "http/1.1"] });
    server.on("secureConnection", (socket: TLSSocket) => {
      if (options.requestCert === true) keepCertificate(socket, options.ca);
      this.#serve(socket);
    });
    server.on("tlsClientError", (_error, socket) => socket.destroy());
    return server;
  }

  #usable(options: TlsOptions): TlsOptions {
    const context = contextOptions(options);
    try {
      createSecureContext(context);
    } catch (error) {
      throw new BadTlsMaterial({ subject: this.#name, fault: toError(error).message }, { cause: error });
    }
    return context;
  }
}

/**
 * With client certificates, sessions are not resumed: a resumed session keeps the verdict of its first handshake, even
 * if that authority has been removed. And only the given authorities count, never Node's public ones.
 */
function contextOptions(options: TlsOptions): TlsOptions {
  if (options.requestCert !== true) return options;
  const { secureOptions = 0, ca = [] } = options;
  return { ...options, ca, secureOptions: secureOptions | constants.SSL_OP_NO_TICKET };
}
