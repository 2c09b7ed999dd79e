// The port for users alone, as the service opens it, in front of one API server. Arguments: the URL of that server, and
// a folder with tls.crt (its own authority too) and tls.key. Any token is a user's. Prints its port, then its log.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  AuditLog,
  Authorities,
  GatewayAccess,
  GatewayServer,
  InFlight,
  MemberConnections,
  TokenUsers,
  UserAuthenticator,
  UsersRouter,
} from "@evenkeel/endpoint-proxy/gateway";
import { MetricRegistry } from "@evenkeel/metrics";
import { createLogger, systemClock } from "@evenkeel/runtime";

const [, , upstream = "", folder = ""] = process.argv;
const server = new URL(upstream);
const cert = readFileSync(join(folder, "tls.crt"));
const key = readFileSync(join(folder, "tls.key"));
const clock = systemClock;
const log = createLogger({ service: "bench", level: "info", secrets: [], destination: process.stdout });
const target = {
  server,
  namespace: undefined,
  proxy: undefined,
  tls: { ca: cert, rejectUnauthorized: true },
  connectionKey: "bench",
  headers: {},
};
const access = new GatewayAccess({
  kube: { access: () => target },
  impersonator: { token: () => "impersonator" },
  certificate: () => ({ cert, key }),
  authority: () => undefined,
  clusterUid: () => "bench",
  basicAuth: undefined,
});
const identity = { user: "alice", uid: undefined, groups: ["developers", "system:authenticated"], extra: {} };
const authorities = new Authorities();
const usersRouter = new UsersRouter({
  clock,
  inFlight: new InFlight({ reads: 1_000, writes: 1_000, bytes: 2 ** 26 }),
  audit: new AuditLog(clock, log),
  members: { get: () => undefined, own: () => undefined },
  access,
  connections: new MemberConnections(),
  answers: { answer: () => undefined },
  deadlines: { response: 65_000, idle: 30_000 },
  authenticator: new UserAuthenticator({
    clock,
    log,
    authorities,
    tokens: new TokenUsers({ clock, identify: () => Promise.resolve(identity) }),
    reviewer: { allows: () => Promise.reject(new Error("nobody impersonates here")) },
  }),
});
const gateway = new GatewayServer({
  settings: { listenHost: "127.0.0.1", port1: 0, port2: 0, maxHeadBytes: 65_536, headTimeout: 20_000 },
  usersRouter,
  peersRouter: { route: () => ({ refuse: { status: 404 } }) },
  certificates: { current: { cert, key }, onChange: () => () => undefined },
  users: authorities,
  peers: new Authorities(),
  clock,
  log,
  registry: new MetricRegistry(),
});
await gateway.start();
process.stdout.write(`${gateway.port}\n`);
