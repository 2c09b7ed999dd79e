import { join } from "node:path";
import { AccessReviewer, configMaps, type KubeClient } from "@evenkeel/kube";
import type { MetricRegistry, Metrics } from "@evenkeel/metrics";
import type { OperatorFrame } from "@evenkeel/operator";
import { CertificateFiles } from "@evenkeel/rpc";
import type { Clock, Component, Logger, Server } from "@evenkeel/runtime";
import type { Members } from "../members/member.ts";
import type { MemberAccess, MemberClient } from "../members/member-client.ts";
import { AuditLog } from "./audit-log.ts";
import { Authorities } from "./authentication/authorities.ts";
import { CLIENT_CA, ClientCaFile, followClientCa, PeerAuthorities } from "./authentication/authority-sources.ts";
import { PeerAuthenticator } from "./authentication/peer-authenticator.ts";
import { TokenUsers } from "./authentication/token-users.ts";
import { UserAuthenticator } from "./authentication/user-authenticator.ts";
import type { gatewayMetrics } from "./gateway-metrics.ts";
import { GatewayServer } from "./gateway-server.ts";
import { InFlight } from "./in-flight.ts";
import type { OwnerAnswers } from "./owner-answers.ts";
import { PeersRouter } from "./peers-router.ts";
import { GatewayClient } from "./reach/gateway-client.ts";
import { GatewayAccess, type Impersonator } from "./reach/member-access.ts";
import { MemberConnections } from "./reach/member-connections.ts";
import { UsersRouter } from "./users-router.ts";

/** Milliseconds between two readings of certificates and authorities. */
const REREAD = 5_000;

/** Milliseconds for a review of a token. */
const REVIEW_DEADLINE = 10_000;

/** Milliseconds for the head of a forwarded answer: more than kube-apiserver gives itself (60 s). */
const RESPONSE_DEADLINE = 65_000;

export interface GatewayOptions {
  readonly settings: {
    readonly listenHost: string | undefined;
    readonly port1: number;
    readonly port2: number;
    /** With tls.crt and tls.key. */
    readonly certificateDirectory: string;
    readonly peerAuthorities: string;
    readonly peerNames: readonly string[];
    readonly trustedPeers: readonly string[];
    readonly peerDroppedGroups: readonly string[];
    readonly clientCaFile: string | undefined;
    readonly basicAuthUsername: string | undefined;
    readonly basicAuthPassword: string | undefined;
    readonly basicAuthUser: string | undefined;
    readonly maxReads: number;
    readonly maxWrites: number;
    readonly maxHeldBytes: number;
    readonly maxHeadBytes: number;
    readonly headTimeout: number;
    readonly bodyTimeout: number;
    readonly memberDeadline: number;
  };
  /** The own cluster, as this program itself. */
  readonly kube: KubeClient;
  readonly impersonator: Impersonator;
  readonly members: Members;
  /** The uid of the own cluster's namespace kube-system; undefined while it is unknown. */
  readonly clusterUid: () => string | undefined;
  readonly reflect: OperatorFrame["reflect"];
  readonly clock: Clock;
  readonly log: Logger;
  readonly registry: MetricRegistry;
  readonly metrics: Metrics<typeof gatewayMetrics>;
  readonly use: (component: Component) => void;
  readonly open: (server: Server) => void;
}

/** The ways to members, and the servers. */
export interface Gateway {
  readonly access: MemberAccess;
  readonly client: MemberClient;
  /** Opens both ports. `answers` has the requests that are answered from several members. */
  serve(answers: OwnerAnswers): GatewayServer;
}

/** Builds the data path: who asks, the ways to members, and the ports for users and for peers. */
export function gateway(options: GatewayOptions): Gateway {
  const { settings, kube, members, clusterUid, clock, log, registry, use } = options;
  const { basicAuthUsername: username, basicAuthPassword: password } = settings;
  const basicAuth = username && password ? { username, password } : undefined;
  const reread = { clock, log, interval: REREAD };
  const files = {
    cert: join(settings.certificateDirectory, "tls.crt"),
    key: join(settings.certificateDirectory, "tls.key"),
  };
  const { certificateReads: reads, certificateExpiry: expiry } = options.metrics;
  const certificates = new CertificateFiles({ ...reread, files, metrics: { reads, expiry } });
  const users = new Authorities();
  const peers = new PeerAuthorities(reread, settings.peerAuthorities, () => server?.renew());
  const useClientCa = (pem: string) => {
    if (users.replace(pem)) server?.renew();
  };
  use(certificates);
  use(peers);
  if (settings.clientCaFile === undefined) {
    const selection = { namespace: CLIENT_CA.namespace, fieldSelector: `metadata.name=${CLIENT_CA.name}` };
    followClientCa(options.reflect(configMaps, { selection }), log, useClientCa);
  } else use(new ClientCaFile(reread, settings.clientCaFile, useClientCa));
  const access = new GatewayAccess({
    ...{ kube, impersonator: options.impersonator, clusterUid, basicAuth },
    certificate: () => certificates.current,
    authority: (peer) => peers.pemOf(peer),
  });
  const connections = new MemberConnections();
  use(connections);
  const client = new GatewayClient({
    ...{ access, connections, clock, deadline: settings.memberDeadline, idle: settings.bodyTimeout },
  });
  let server: GatewayServer | undefined;

  const serve = (answers: OwnerAnswers): GatewayServer => {
    const reviewer = new AccessReviewer(kube);
    const tokens = new TokenUsers({
      clock,
      identify: (token) => reviewer.identify(token, AbortSignal.timeout(REVIEW_DEADLINE)),
    });
    const { maxReads: reads, maxWrites: writes, maxHeldBytes: bytes } = settings;
    const inFlight = new InFlight({ reads, writes, bytes });
    const deadlines = { response: RESPONSE_DEADLINE, idle: settings.bodyTimeout };
    const common = { clock, inFlight, audit: new AuditLog(clock, log), members, access, deadlines, connections };
    server = new GatewayServer({
      ...{ settings, clock, log, registry, certificates, users, peers: peers.all },
      usersRouter: new UsersRouter({
        ...{ ...common, answers },
        authenticator: new UserAuthenticator({ clock, log, authorities: users, tokens, reviewer }),
      }),
      peersRouter: new PeersRouter({
        ...{ ...common, clusterUid },
        authenticator: new PeerAuthenticator({
          ...{ clock, log, authorities: peers.all, byPeer: () => peers.byPeer() },
          ...{ names: settings.peerNames, trusted: settings.trustedPeers, droppedGroups: settings.peerDroppedGroups },
          ...{ basicAuth, basicAuthUser: settings.basicAuthUser },
          countBasicAuth: () => options.metrics.basicAuthRequests.inc({}),
        }),
      }),
    });
    options.open(server);
    return server;
  };
  return { access, client, serve };
}
