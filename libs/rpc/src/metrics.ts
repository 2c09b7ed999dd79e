import { counter, gauge, type Metrics, oneOf, upTo } from "@evenkeel/metrics";

/** The names that gRPC libraries give to their server's counter, so that existing boards show it. */
export const rpcServerMetrics = {
  handled: counter("grpc_server_handled_total", "Calls that ended, whether they came by gRPC or by the JSON API.", {
    grpc_service: upTo(32),
    grpc_method: upTo(128),
    grpc_code: upTo(17),
  }),
  open: gauge("evenkeel_rpc_open_calls", "Calls being served now.", { kind: oneOf("unary", "stream") }),
};

export type RpcServerMetrics = Metrics<typeof rpcServerMetrics>;

export const certificateMetrics = {
  reads: counter("evenkeel_certificate_reads_total", "Readings of the certificate files.", {
    outcome: oneOf("changed", "same", "refused"),
  }),
  expiry: gauge(
    "evenkeel_certificate_expiry_timestamp_seconds",
    "When the certificate in use expires, in seconds since the epoch.",
    {},
  ),
};

export type CertificateMetrics = Metrics<typeof certificateMetrics>;

export const peerMetrics = {
  up: gauge("evenkeel_peer_up", "1 while there is a connection to the peer, 0 otherwise.", {
    peer: upTo(32),
  }),
};

export type PeerMetrics = Metrics<typeof peerMetrics>;
