import { counter, gauge, oneOf } from "@evenkeel/metrics";

/** Metrics of the two ports; the table of the service includes them. */
export const gatewayMetrics = {
  basicAuthRequests: counter(
    "endpoint_proxy_basic_auth_requests_total",
    "Requests of peers that authenticated with BASIC_AUTH instead of a certificate.",
    {},
  ),
  certificateReads: counter(
    "endpoint_proxy_certificate_reads_total",
    "Readings of the certificate files of the ports for users and peers.",
    { outcome: oneOf("changed", "same", "refused") },
  ),
  certificateExpiry: gauge(
    "endpoint_proxy_certificate_expiry_timestamp_seconds",
    "When the certificate of the ports for users and peers expires, in seconds since the epoch.",
    {},
  ),
};
