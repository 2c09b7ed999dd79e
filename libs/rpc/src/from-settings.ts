import type { MetricRegistry } from "@evenkeel/metrics";
import type { Clock, HttpServer, Logger } from "@evenkeel/runtime";
import type { Authorizer } from "./auth/authorizer.ts";
import { certificateMetrics } from "./metrics.ts";
import { RpcServer } from "./server/rpc-server.ts";
import type { RpcSettings } from "./settings.ts";
import { CertificateFiles } from "./tls/certificate-files.ts";
import type { Transport } from "./tls/credentials.ts";

/** What gRPC needs of its service; a `Service` of the runtime has it all. */
export interface RpcHost {
  readonly settings: RpcSettings & { readonly listenHost?: string | undefined };
  readonly clock: Clock;
  readonly log: Logger;
  readonly registry: MetricRegistry;
  readonly admin: Pick<HttpServer, "secure">;
}

/**
 * Certificates as the settings name them, or plaintext: for the gRPC server, its peers and, with `--admin-tls`, the
 * admin port. Certificates are a component of the service.
 */
export function rpcTransport({ settings, clock, log, registry, admin }: RpcHost): Transport {
  const { insecure, tlsCertFile: cert, tlsKeyFile: key, tlsCaFile: ca, tlsReloadInterval: interval } = settings;
  if (insecure) return "insecure";
  const metrics = registry.register(certificateMetrics);
  const certificates = new CertificateFiles({ files: { cert, key, ca }, interval, clock, log, metrics });
  if (settings.adminTls) certificates.onChange((renewed) => admin.secure(renewed));
  return certificates;
}

/** The gRPC server as the settings describe it. Without an authorizer, calls that change something are refused. */
export function rpcServer(host: RpcHost, transport: Transport, authorizer?: Authorizer): RpcServer {
  const { settings, clock, log, registry } = host;
  const { listenHost, grpcPort, mtls, grpcMaxMessage, grpcMaxCalls, grpcMaxStreams } = settings;
  const limits = { message: grpcMaxMessage, calls: grpcMaxCalls, streams: grpcMaxStreams };
  return new RpcServer({ host: listenHost, port: grpcPort, transport, mtls, limits, authorizer, clock, log, registry });
}
