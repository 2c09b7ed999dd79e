import { setting } from "./table.ts";

/** Of a service that has certificates; part of the settings of gRPC, which name the files. */
export const adminTlsSettings = {
  adminTls: setting.boolean({
    default: "false",
    help: "Serve the admin port over TLS, with the certificate of --tls-cert-file",
  }),
};

/** What every service can be told. A service's own table begins with these: `{ ...runtimeSettings, … }`. */
export const runtimeSettings = {
  dryRun: setting.boolean({ default: "false", help: "Decide and say so, but change nothing" }),
  listenHost: setting.text({ optional: true, help: "Address that the servers listen on; all addresses unless set" }),
  adminPort: setting.port({ default: "8080", help: "Port of metrics, the status page and the JSON API" }),
  healthPort: setting.port({ default: "8081", help: "Port of /healthz, /livez and /readyz" }),
  logLevel: setting.choice(
    "trace",
    "debug",
    "info",
    "warn",
    "error",
    "fatal",
  )({
    default: "info",
    help: "The least severe log lines that are written",
  }),
  shutdownDelay: setting.duration({
    default: "5s",
    help: "How long requests are still taken after SIGTERM, while load balancers learn that this replica goes",
  }),
  drainTimeout: setting.duration({
    default: "20s",
    help: "How long requests in flight may take to finish after that; then they are cut",
  }),
  recordedSnapshots: setting.integer(
    0,
    100_000,
  )({
    default: "100",
    help: "How many snapshots the flight recorder keeps",
  }),
  recordedBytes: setting.bytes({ default: "32Mi", help: "How much memory those snapshots may take" }),
};
