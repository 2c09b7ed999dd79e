import type { Advice } from "@evenkeel/prometheus";

/**
 * What to check when a trigger's server does not answer: fields of the trigger's `metadata`, unless stated otherwise.
 */
export const advice: Advice = {
  address: "check serverAddress",
  credentials: "check headers",
  permission: "check headers and what the account may read",
  load: "raise --trigger-interval or simplify the query",
  time: "simplify the query",
  trust: "add the CA to the file that NODE_EXTRA_CA_CERTS names",
  handshake: "check whether the server uses https",
  clientCertificate: "the server may require a client certificate, which is not supported",
};
