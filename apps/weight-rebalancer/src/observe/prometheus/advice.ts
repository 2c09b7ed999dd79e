import type { Advice } from "@evenkeel/prometheus";

/** Where to look when a metric server does not answer: fields of `spec.metrics.prometheus`, unless they say otherwise. */
export const advice: Advice = {
  address: "set address to where it serves",
  credentials: "see auth and headers",
  permission: "see auth, headers and what the account may read",
  load: "lengthen spec.interval or lighten the query",
  time: "lighten the query or raise timeout",
  trust: "see tls.caSecretRef and tls.serverName",
  handshake: "is it https, and are tls.certSecretRef and tls.keySecretRef what the server wants?",
  clientCertificate: "Does it ask for a client's certificate (tls.certSecretRef)?",
};
