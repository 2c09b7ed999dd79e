import { rootCertificates, type SecureContextOptions } from "node:tls";
import { ChannelCredentials, experimental, ServerCredentials } from "@grpc/grpc-js";
import type { CertificateFiles, Certificates } from "./certificate-files.ts";

/** Certificates, or plaintext for loopback and tests. */
export type Transport = CertificateFiles | "insecure";

/**
 * A peer that connects and does not finish its handshake is cut after this, in milliseconds; it would keep a drain
 * waiting.
 */
const HANDSHAKE_TIMEOUT = 5000;

export function serverCredentials(transport: Transport, mtls: boolean): ServerCredentials {
  return transport === "insecure" ? ServerCredentials.createInsecure() : new RenewedServerCredentials(transport, mtls);
}

/**
 * Gives each renewal to the listening server, for the connections that come after it; those that are open go on as they
 * are. grpc-js does the same for its own certificate providers, which drop all connections while a file cannot be read.
 */
class RenewedServerCredentials extends ServerCredentials {
  constructor(files: CertificateFiles, mtls: boolean) {
    super(
      { requestCert: mtls, rejectUnauthorized: mtls, minVersion: "TLSv1.2", handshakeTimeout: HANDSHAKE_TIMEOUT },
      contextOf(files.current),
    );
    files.onChange((certificates) => this.updateSecureContextOptions(contextOf(certificates)));
  }

  override _equals(other: ServerCredentials): boolean {
    return this === other;
  }
}

export function channelCredentials(transport: Transport): ChannelCredentials {
  if (transport === "insecure") return ChannelCredentials.createInsecure();
  const provider = providerOf(transport);
  return experimental.createCertificateProviderChannelCredentials(provider, transport.current.cert ? provider : null);
}

function contextOf({ cert, key, ca }: Certificates): SecureContextOptions {
  return { ...(cert && { cert }), ...(key && { key }), ...(ca && { ca }) };
}

function providerOf(files: CertificateFiles): experimental.CertificateProvider {
  const authorities = Buffer.from(rootCertificates.join("\n"));
  const unlisten = new Map<unknown, () => void>();
  const listen = <T>(listener: (update: T | null) => void, update: (certificates: Certificates) => T | null) => {
    const tell = (certificates: Certificates) => listener(update(certificates));
    unlisten.set(listener, files.onChange(tell));
    tell(files.current);
  };
  const forget = (listener: unknown) => {
    unlisten.get(listener)?.();
    unlisten.delete(listener);
  };
  return {
    addCaCertificateListener: (listener) => listen(listener, ({ ca }) => ({ caCertificate: ca ?? authorities })),
    addIdentityCertificateListener: (listener) =>
      listen(listener, ({ cert, key }) => (cert && key ? { certificate: cert, privateKey: key } : null)),
    removeCaCertificateListener: forget,
    removeIdentityCertificateListener: forget,
  };
}
