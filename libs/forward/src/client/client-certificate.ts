import type { Socket } from "node:net";
import type { TlsOptions, TLSSocket } from "node:tls";
import type { ClientCertificate } from "../exchange.ts";

const certificateOf = Symbol("certificate");
type CertifiedSocket = Socket & { [certificateOf]?: ClientCertificate };

/** Keeps the client's certificate, if it sent one, with the result of its verification by `authorities`. */
export function keepCertificate(socket: TLSSocket, authorities: TlsOptions["ca"]): void {
  const certificate = socket.getPeerX509Certificate();
  if (!certificate) return;
  const { authorized, authorizationError } = socket;
  // Node sets the code of OpenSSL here; its types say that it is an error.
  const fault = authorized ? undefined : String(authorizationError);
  (socket as CertifiedSocket)[certificateOf] = { certificate, verified: authorized, fault, authorities };
}

/** The certificate that the client of `socket` sent in its handshake. */
export function certificateOn(socket: Socket | undefined): ClientCertificate | undefined {
  return (socket as CertifiedSocket | undefined)?.[certificateOf];
}
