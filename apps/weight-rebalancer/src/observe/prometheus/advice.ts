import type { Advice } from "@evenkeel/prometheus";

/** What to check if a metric server does not answer: fields of `spec.metrics.prometheus` unless stated otherwise. */
export const advice: Advice = {
  address: "set address to the URL of the server",
  credentials: "check auth and headers",
  permission: "check auth, headers and the permissions of the account",
  load: "increase spec.interval or simplify the query",
  time: "simplify the query or increase timeout",
  trust: "check tls.caSecretRef and tls.serverName",
  handshake: "check that the server uses https, and tls.certSecretRef and tls.keySecretRef",
  clientCertificate: "Check whether the server requires a client certificate (tls.certSecretRef)",
};
