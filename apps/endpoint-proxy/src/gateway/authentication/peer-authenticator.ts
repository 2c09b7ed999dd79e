import { createHash, timingSafeEqual, type X509Certificate } from "node:crypto";
import type { Exchange } from "@evenkeel/forward";
import type { Clock, Logger } from "@evenkeel/runtime";
import { NoIdentity, NotAPeer } from "../errors.ts";
import type { Identity } from "../identity.ts";
import { RequestRefused } from "../request-refused.ts";
import { type Authorities, isIssuedBy } from "./authorities.ts";
import { AUTHENTICATED, commonName } from "./certificate-identity.ts";
import { readIdentity, REMOTE } from "./identity-headers.ts";
import { identityFromPeer } from "./peer-identity.ts";
import type { Caller } from "./user-authenticator.ts";

/** The user that an original proxy reads ClusterScores as, unless `--basic-auth-user` names another. */
const ORIGINAL_READER = "evenkeel:original-wao-endpoint-proxy";

/** What the original authenticates itself with. */
export interface BasicAuth {
  readonly username: string;
  readonly password: string;
}

export interface PeerAuthenticatorOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** Of all peers, for the handshake's verdict. */
  readonly authorities: Authorities;
  /** By the names of the peers. Another map after a change. */
  readonly byPeer: () => ReadonlyMap<string, readonly X509Certificate[]>;
  /** Common names that a peer's certificate may have. */
  readonly names: readonly string[];
  /** Peers whose `system:masters` and `droppedGroups` count here. */
  readonly trusted: readonly string[];
  /** Groups that users of other peers lose, beside those with `system:`. */
  readonly droppedGroups: readonly string[];
  readonly basicAuth: BasicAuth | undefined;
  /** The user of requests with `basicAuth`. */
  readonly basicAuthUser: string | undefined;
  /** Called for each request with `basicAuth`. */
  readonly countBasicAuth: () => void;
}

/** Who a peer's request is for. `onlyScores` allows nothing but reading ClusterScores. */
export interface PeerCaller extends Caller {
  readonly onlyScores: boolean;
}

/**
 * Says for which user of another cluster a peer's request is made. The peer is authenticated by its certificate, which
 * needs one of the allowed common names: other certificates of the same authority are users and kubelets of that
 * cluster.
 */
export class PeerAuthenticator {
  readonly #options: PeerAuthenticatorOptions;
  readonly #peers = new WeakMap<X509Certificate, { readonly of: object; readonly names: readonly string[] }>();
  #isWarned = false;

  constructor(options: PeerAuthenticatorOptions) {
    this.#options = options;
  }

  /** Throws `RequestRefused`. */
  authenticate(exchange: Exchange): PeerCaller {
    const { client } = exchange;
    const basic = this.#basic(exchange);
    if (basic) return basic;
    if (client === undefined) throw notAPeer("it has no client certificate");
    const { authorities, clock, names, trusted, droppedGroups: dropped } = this.#options;
    const fault = authorities.faultOf(client, clock.now());
    if (fault !== undefined) throw notAPeer(fault);
    const name = commonName(client.certificate);
    if (!names.includes(name)) throw notAPeer(`its common name is ${name}`);
    const peers = this.#peersOf(client.certificate);
    const [peer] = peers;
    if (peer === undefined) throw notAPeer("no peer's authority issued its certificate");
    const told = readIdentity(REMOTE, exchange.headers);
    if (told === "none") throw noIdentity(peer, "X-Remote-User is missing");
    if ("fault" in told) throw noIdentity(peer, told.fault);
    // Peers that share an authority cannot be told apart: they are only trusted together.
    const isTrusted = peers.every((one) => trusted.includes(one));
    const identity = identityFromPeer({ name: peer, trusted: isTrusted, dropped }, told);
    return { identity, peer, onlyScores: false };
  }

  #peersOf(certificate: X509Certificate): readonly string[] {
    const byPeer = this.#options.byPeer();
    const known = this.#peers.get(certificate);
    if (known?.of === byPeer) return known.names;
    const issuers = Array.from(byPeer).filter(([, authorities]) => isIssuedBy(certificate, authorities));
    const names = issuers.map(([name]) => name).sort();
    this.#peers.set(certificate, { of: byPeer, names });
    return names;
  }

  #basic(exchange: Exchange): PeerCaller | undefined {
    const { basicAuth, basicAuthUser, log, countBasicAuth } = this.#options;
    const given = exchange.header("authorization");
    if (basicAuth === undefined || given === undefined || !/^Basic /i.test(given)) return undefined;
    const wanted = Buffer.from(`${basicAuth.username}:${basicAuth.password}`).toString("base64");
    if (!sameText(given.slice(6).trim(), wanted)) throw notAPeer("its user name or password is wrong");
    countBasicAuth();
    if (!this.#isWarned) log.warn({ from: exchange.remoteAddress }, "a peer uses BASIC_AUTH; certificates replace it");
    this.#isWarned = true;
    const identity: Identity = {
      user: basicAuthUser ?? ORIGINAL_READER,
      uid: undefined,
      groups: [AUTHENTICATED],
      extra: {},
    };
    return { identity, onlyScores: basicAuthUser === undefined };
  }
}

function sameText(a: string, b: string): boolean {
  const [one, other] = [a, b].map((text) => createHash("sha256").update(text).digest()) as [Buffer, Buffer];
  return timingSafeEqual(one, other);
}

function notAPeer(fault: string): RequestRefused {
  return new RequestRefused(401, new NotAPeer({ fault }));
}

function noIdentity(peer: string, fault: string): RequestRefused {
  return new RequestRefused(401, new NoIdentity({ peer, fault }));
}
