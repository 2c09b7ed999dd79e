import { X509Certificate } from "node:crypto";
import type { ClientCertificate } from "@evenkeel/forward";

/** The certificates of a PEM text, in order. Throws if one of them is not valid. */
export function certificatesOf(pem: string): X509Certificate[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  return blocks.map((block) => new X509Certificate(block));
}

/** Whether one of `authorities` issued `certificate` directly. */
export function isIssuedBy(certificate: X509Certificate, authorities: readonly X509Certificate[]): boolean {
  return authorities.some((one) => certificate.checkIssued(one) && certificate.verify(one.publicKey));
}

/** Extended key usages of a client's certificate: for clients, or for anything. */
const CLIENT_USES: readonly string[] = ["1.3.6.1.5.5.7.3.2", "2.5.29.37.0"];

interface Seen {
  /** Which set of authorities the verdict is about. */
  readonly generation: number;
  readonly validFrom: number;
  readonly validTo: number;
  readonly fault: string | undefined;
}

/**
 * The authorities whose client certificates are accepted. A connection keeps the verdict of its handshake, so each
 * request is judged again: the certificate may have expired since, and its authority may have been removed.
 */
export class Authorities {
  #certificates: readonly X509Certificate[] = [];
  #pem = "";
  #generation = 0;
  readonly #seen = new WeakMap<X509Certificate, Seen>();

  /** In PEM, for the handshake. */
  get pem(): string {
    return this.#pem;
  }

  get certificates(): readonly X509Certificate[] {
    return this.#certificates;
  }

  /** Replaces the authorities. Returns whether they changed. Throws if the text is not PEM, and nothing changes. */
  replace(pem: string): boolean {
    if (pem === this.#pem) return false;
    this.#certificates = certificatesOf(pem);
    this.#pem = pem;
    this.#generation += 1;
    return true;
  }

  /** Why a certificate is not accepted now; undefined if it is. `now` is wall time in milliseconds. */
  faultOf(client: ClientCertificate, now: number): string | undefined {
    const { certificate } = client;
    let seen = this.#seen.get(certificate);
    if (seen?.generation !== this.#generation) {
      const fault = this.#judge(client);
      const [validFrom, validTo] = [certificate.validFromDate.getTime(), certificate.validToDate.getTime()];
      seen = { generation: this.#generation, validFrom, validTo, fault };
      this.#seen.set(certificate, seen);
    }
    if (seen.fault !== undefined) return seen.fault;
    if (now < seen.validFrom) return "CERT_NOT_YET_VALID";
    return now >= seen.validTo ? "CERT_HAS_EXPIRED" : undefined;
  }

  /**
   * The handshake's verdict stands for the authorities of that time, even if no request came since. It alone knows
   * chains with intermediates.
   */
  #judge({ certificate, verified, fault, authorities }: ClientCertificate): string | undefined {
    if (authorities === this.#pem) return verified ? undefined : (fault ?? "UNVERIFIED");
    const uses = certificate.keyUsage as readonly string[] | undefined;
    if (uses !== undefined && !CLIENT_USES.some((use) => uses.includes(use))) return "INVALID_PURPOSE";
    return isIssuedBy(certificate, this.#certificates) ? undefined : "UNABLE_TO_VERIFY_LEAF_SIGNATURE";
  }
}
