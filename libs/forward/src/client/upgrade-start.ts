import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { Engine } from "../engine.ts";
import { EarlyData } from "./early-data.ts";

/** The early data of a client that requested an upgrade, until the upstream responds. */
export class UpgradeStart extends EarlyData {
  readonly token: string;

  constructor(engine: Engine, token: string, socket: Duplex, head: Buffer) {
    super(engine, socket, head);
    this.token = token;
  }
}

/**
 * The protocol that a request wants to upgrade to. Upgrades to HTTP/2 and TLS are not supported (RFC 9113 removed the
 * first), and a request with a body gets a response in HTTP/1.1. A server may do both.
 */
export function upgradeToken(request: IncomingMessage): string | undefined {
  const { upgrade, "content-length": length } = request.headers;
  if (upgrade === undefined || request.httpVersionMinor === 0) return undefined;
  if (request.headers["transfer-encoding"] !== undefined || (length !== undefined && length !== "0")) return undefined;
  return /^(h2c|tls\/)/i.test(upgrade) ? undefined : upgrade;
}
