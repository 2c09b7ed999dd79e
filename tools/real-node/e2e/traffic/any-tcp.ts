import { join } from "node:path";
import { root } from "@evenkeel/charts";
import { type Certificate, localhostCertificate } from "@evenkeel/testkit";
import { expect, test } from "@jest/globals";
import { buildSync } from "esbuild";
import { NODE_IMAGE, POSTGRES_IMAGE, postgresVersion, writePostgresImage } from "../../src/index.ts";
import { environment } from "./environment.ts";
import type { GrpcLoad } from "./grpc-program.ts";
import { IDLE, POSTGRES, PSQL, type Queries, type Tally } from "./programs.ts";
import type { TrafficSite } from "./traffic-site.ts";

/** Connections that come at once. */
const BURST = 500;

const CPU = { requests: { cpu: "50m" } };
const noPostgres = postgresVersion() === undefined ? " (skipped: PostgreSQL is not installed; Debian: postgresql)" : "";

export interface AnyTcpOptions {
  readonly site: () => TrafficSite;
  readonly note: (scenario: string, tally: Tally) => Readonly<Record<string, number>>;
  readonly timeout: number;
}

/** Cases in which connections that are not HTTP come at once to a service at zero. */
export function anyTcpCases({ site, note, timeout }: AnyTcpOptions): void {
  test.concurrent(
    `of ${BURST} HTTPS connections that come at once to a service at zero`,
    async () => {
      const tls = localhostCertificate();
      await site().service("https", { replicas: 0, tls });
      const tally = await site().load("https", { count: BURST, rate: 0, ca: tls.cert });
      expect(note(`${BURST} HTTPS connections at zero`, tally)).toEqual({});
      await site().hasHeld("https");
    },
    timeout,
  );

  test.concurrent(
    `of ${BURST} gRPC channels with TLS that come at once to a service at zero`,
    async () => {
      const tls = localhostCertificate();
      await site().configMap("grpc", grpcProgram());
      await site().service("grpc", { replicas: 0, pod: grpcPod(tls) });
      await site().clientPod("grpc-client", grpcClient());
      const load: GrpcLoad = {
        target: `${await site().address("grpc")}:80`,
        count: BURST,
        ca: tls.cert,
        host: "localhost",
      };
      expect(await site().inPod("grpc-client", [PROGRAM], load)).toEqual({ OK: BURST });
      await site().hasHeld("grpc");
    },
    timeout,
  );

  const withPostgres = noPostgres === "" ? test.concurrent : test.skip;
  withPostgres(
    `of ${BURST} psql that query a PostgreSQL at zero${noPostgres}`,
    async () => {
      await site().loadImage(writePostgresImage());
      await site().service("postgres", { replicas: 0, pod: postgresPod() });
      await site().clientPod("psql", { containers: [{ name: "psql", image: POSTGRES_IMAGE, args: ["-e", IDLE] }] });
      const queries: Queries = { host: await site().address("postgres"), count: BURST };
      expect(await site().inPod("psql", ["-e", PSQL], queries)).toEqual({ "42": BURST });
      await site().hasHeld("postgres");
    },
    timeout,
  );
}

const PROGRAM = "/programs/grpc-program.cjs";
const MOUNTED = { volumeMounts: [{ name: "programs", mountPath: "/programs" }] };
const VOLUMES = { volumes: [{ name: "programs", configMap: { name: "grpc" } }] };

/** The path of the program with its library, as one file. */
function grpcProgram(): string {
  const outfile = join(root, "tools/real-node/dist/grpc-program.cjs");
  const entryPoints = [join(import.meta.dirname, "grpc-program.ts")];
  buildSync({ entryPoints, outfile, bundle: true, minify: true, platform: "node", format: "cjs" });
  return outfile;
}

function grpcPod(tls: Certificate): object {
  const readinessProbe = { tcpSocket: { port: 8080 }, periodSeconds: 1 };
  const server = { name: "grpc", image: NODE_IMAGE, args: [PROGRAM], env: environment(tls), resources: CPU };
  return { ...VOLUMES, containers: [{ ...server, ...MOUNTED, readinessProbe }] };
}

function grpcClient(): object {
  return { ...VOLUMES, containers: [{ name: "client", image: NODE_IMAGE, args: ["-e", IDLE], ...MOUNTED }] };
}

function postgresPod(): object {
  const readinessProbe = { exec: { command: ["pg_isready", "-h", "127.0.0.1", "-p", "8080"] }, periodSeconds: 1 };
  const server = { name: "postgres", image: POSTGRES_IMAGE, command: ["sh", "-ec", POSTGRES], resources: CPU };
  return { containers: [{ ...server, readinessProbe }] };
}
