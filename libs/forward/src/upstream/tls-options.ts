import { isIP } from "node:net";
import { checkServerIdentity, type ConnectionOptions, createSecureContext, type SecureContextOptions } from "node:tls";
import { toError } from "@evenkeel/runtime";
import type { Origin } from "../destination.ts";
import { BadTlsMaterial } from "../errors.ts";

/** The options of Node for a TLS connection. */
export interface OriginTlsOptions extends Pick<ConnectionOptions, "secureContext" | "checkServerIdentity"> {
  readonly rejectUnauthorized: true;
  readonly ALPNProtocols: readonly string[];
  /** For SNI. */
  readonly servername?: string;
}

/**
 * How every connection to `origin` is secured; undefined without TLS. The server is always verified, for the name in
 * `servername`, or else for the host. Computed once for each pool, because parsing authorities is expensive. Throws if
 * the material is unusable.
 */
export function tlsOptions({ host, port, protocol, tls }: Origin): OriginTlsOptions | undefined {
  if (!tls) return undefined;
  const subject = `${host}:${port}`;
  if (protocol === "h2c") throw new BadTlsMaterial({ subject, fault: "h2c is HTTP/2 without TLS" });
  const { ca, cert, key, servername: name = host } = tls;
  const material: SecureContextOptions = {};
  if (ca !== undefined) material.ca = ca;
  if (cert !== undefined) material.cert = cert;
  if (key !== undefined) material.key = key;
  try {
    return {
      secureContext: createSecureContext(material),
      rejectUnauthorized: true,
      checkServerIdentity: (_host, certificate) => checkServerIdentity(name, certificate),
      ALPNProtocols: ["http/1.1"],
      // SNI cannot carry an address.
      ...(isIP(name) === 0 ? { servername: name } : {}),
    };
  } catch (error) {
    throw new BadTlsMaterial({ subject, fault: toError(error).message }, { cause: error });
  }
}
