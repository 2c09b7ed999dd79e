import { createHash } from "node:crypto";
import type { Origin, OriginTls } from "@evenkeel/forward";
import type { Access, KubeClient } from "@evenkeel/kube";
import type { Member } from "../../members/member.ts";
import type { MemberAccess, Reach } from "../../members/member-client.ts";
import { IMPERSONATION, REMOTE, writeIdentity } from "../authentication/identity-headers.ts";
import type { BasicAuth } from "../authentication/peer-authenticator.ts";
import { MemberUnreachable, NoAuthority } from "../errors.ts";
import type { Identity } from "../identity.ts";

/** Says which cluster's proxy sent a request. Users never send it, so a request that has it does not go further. */
export const PASSED = "evenkeel-passed-proxy";

/** The token of the ServiceAccount that may impersonate and nothing else: a `ServiceAccountToken`. */
export interface Impersonator {
  /** At once if there is a valid one. */
  token(): string | Promise<string>;
  /** Forgets a token that the API server refused. */
  discard?(token: string): void;
}

/** This program's certificate towards peers. PEM. */
export interface OwnCertificate {
  readonly cert?: Buffer | undefined;
  readonly key?: Buffer | undefined;
}

export interface GatewayAccessOptions {
  readonly kube: Pick<KubeClient, "access">;
  readonly impersonator: Impersonator;
  readonly certificate: () => OwnCertificate;
  /** A peer's authority in PEM. */
  readonly authority: (peer: string) => string | undefined;
  /** The uid of the own cluster; undefined while it is unknown. */
  readonly clusterUid: () => string | undefined;
  /** For peers that are originals. */
  readonly basicAuth: BasicAuth | undefined;
}

/** Where a member is. */
type Place = Omit<Reach, "headers" | "refused">;

interface OwnReach {
  readonly place: Place;
  readonly token: string;
  readonly reach: Reach;
}

/** Reaches the own cluster's API server by impersonation, and peers' proxies by mTLS with the identity in headers. */
export class GatewayAccess implements MemberAccess {
  readonly #options: GatewayAccessOptions;
  #own: { readonly key: string; readonly reach: Place } | undefined;
  /** The last reach of the own cluster for a user who is remembered. */
  readonly #asUser = new WeakMap<Identity, OwnReach>();
  readonly #peers = new Map<string, { readonly key: string; readonly reach: Place }>();

  constructor(options: GatewayAccessOptions) {
    this.#options = options;
  }

  async reach(member: Member, identity: Identity): Promise<Reach> {
    return member.own ? this.own(identity) : this.#peer(member, identity);
  }

  /** The own cluster, which is there before its ClusterScore is. At once if the access to it is known. */
  own(identity: Identity): Reach | Promise<Reach> {
    const { kube, impersonator } = this.#options;
    const access = kube.access();
    const token = impersonator.token();
    if (!(access instanceof Promise) && !(token instanceof Promise)) return this.#ownReach(access, token, identity);
    return Promise.all([access, token]).then((both) => this.#ownReach(...both, identity));
  }

  #ownReach(access: Access, token: string, identity: Identity): Reach {
    const { impersonator } = this.#options;
    const place = this.#ownPlace(access);
    const known = this.#asUser.get(identity);
    if (known?.place === place && known.token === token) return known.reach;
    const headers = ["authorization", `Bearer ${token}`, ...writeIdentity(IMPERSONATION, identity)];
    const reach = { ...place, headers, refused: () => impersonator.discard?.(token) };
    this.#asUser.set(identity, { place, token, reach });
    return reach;
  }

  #ownPlace(access: Access): Place {
    const key = `${access.server.href} ${access.connectionKey}`;
    if (this.#own?.key !== key) this.#own = { key, reach: reachOf(access.server, ownTls(access)) };
    return this.#own.reach;
  }

  #peer(member: Member, identity: Identity): Reach {
    const { clusterUid, basicAuth } = this.#options;
    const { name, original } = member;
    const reach = this.#place(member);
    if (original) {
      if (!basicAuth) throw new MemberUnreachable({ cluster: name, fault: "BASIC_AUTH_USERNAME is not set" });
      const secret = Buffer.from(`${basicAuth.username}:${basicAuth.password}`).toString("base64");
      return { ...reach, headers: ["authorization", `Basic ${secret}`] };
    }
    return { ...reach, headers: [PASSED, clusterUid() ?? "unknown", ...writeIdentity(REMOTE, identity)] };
  }

  #place({ name, endpoint, original }: Member): Place {
    const { certificate, authority } = this.#options;
    const ca = authority(name);
    if (ca === undefined) throw new NoAuthority({ cluster: name });
    const server = URL.parse(endpoint);
    if (server?.protocol !== "https:") {
      throw new MemberUnreachable({ cluster: name, fault: "spec.endpoint is not an https:// URL" });
    }
    const { cert, key } = original ? {} : certificate();
    const id = createHash("sha256")
      .update(JSON.stringify([ca, String(cert), String(key)]))
      .digest("base64");
    const about = `${server.href} ${id}`;
    const known = this.#peers.get(name);
    if (known?.key === about) return known.reach;
    const reach = reachOf(server, { id, ca, ...(cert && key && { cert, key }) });
    this.#peers.set(name, { key: about, reach });
    return reach;
  }
}

/** Without a client certificate: kube-apiserver would take it before the token of the impersonator. */
function ownTls({ server, tls: { ca, servername }, connectionKey }: Access): OriginTls | undefined {
  if (server.protocol !== "https:") return undefined;
  return { id: connectionKey, ...(ca && { ca }), ...(servername !== undefined && { servername }) };
}

function reachOf(server: URL, tls: OriginTls | undefined): Place {
  const host = server.hostname.replace(/^\[(.*)\]$/, "$1");
  const port = server.port === "" ? (tls ? 443 : 80) : Number(server.port);
  const origin: Origin = { host, port, protocol: "http1", ...(tls && { tls }) };
  return { origin, host: server.host, prefix: server.pathname.replace(/\/$/, "") };
}
