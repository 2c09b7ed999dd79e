import type { Advice } from "@evenkeel/prometheus";

/** Where to look when a trigger's server does not answer: fields of the trigger's `metadata`, unless they say otherwise. */
export const advice: Advice = {
  address: "set serverAddress to where it serves",
  credentials: "see headers",
  permission: "see headers and what the account may read",
  load: "raise --trigger-interval or lighten the query",
  time: "lighten the query",
  trust: "the file that NODE_EXTRA_CA_CERTS names adds authorities that are trusted",
  handshake: "is it https?",
  clientCertificate: "Does it ask for a client's certificate? None is sent.",
};
