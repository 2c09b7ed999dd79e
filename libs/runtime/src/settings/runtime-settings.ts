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
  dryRun: setting.boolean({ default: "false", help: "Decide and report, but change nothing" }),
  listenHost: setting.text({ optional: true, help: "Address that all servers listen on; all addresses unless set" }),
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
    help: "Lowest log level that is written",
  }),
  shutdownDelay: setting.duration({
    default: "5s",
    help: "How long requests are still accepted after SIGTERM, while load balancers stop sending them",
  }),
  drainTimeout: setting.duration({
    default: "20s",
    help: "How long requests in flight may then take to finish before they are aborted",
  }),
  recordedSnapshots: setting.integer(
    0,
    100_000,
  )({
    default: "100",
    help: "Maximum snapshots in the flight recorder",
  }),
  recordedBytes: setting.bytes({ default: "32Mi", help: "Maximum memory of the flight recorder" }),
};
