import { adminTlsSettings, setting, type SettingsOf } from "@evenkeel/runtime";

/** What a service that speaks gRPC can be told; part of its table: `{ ...runtimeSettings, ...rpcSettings, … }`. */
export const rpcSettings = {
  grpcPort: setting.port({ default: "9090", help: "gRPC port" }),
  tlsCertFile: setting.text({
    optional: true,
    help: "Certificate chain of this process in PEM, for callers and peers",
  }),
  tlsKeyFile: setting.text({ optional: true, help: "Private key of --tls-cert-file in PEM" }),
  tlsCaFile: setting.text({
    optional: true,
    help: "CA certificates in PEM that verify peers; those of the system unless set",
  }),
  mtls: setting.boolean({
    default: "false",
    help: "Accept gRPC only from callers with a certificate of --tls-ca-file",
  }),
  insecure: setting.boolean({ default: "false", help: "Serve gRPC in plaintext; for loopback and tests" }),
  tlsReloadInterval: setting.duration({
    default: "10s",
    help: "How often the certificate files are read again; new connections use what they contain",
  }),
  ...adminTlsSettings,
  readAccess: setting.choice(
    "open",
    "token",
  )({
    default: "open",
    help: "Who may read over gRPC and JSON, the status page and the dashboard's data: anyone, or bearer tokens that may get and list the objects",
  }),
  grpcMaxMessage: setting.bytes({ default: "4Mi", help: "Largest message that is accepted from a caller or a peer" }),
  grpcMaxCalls: setting.integer(1, 100_000)({ default: "256", help: "Maximum concurrent unary calls" }),
  grpcMaxStreams: setting.integer(1, 100_000)({ default: "1000", help: "Maximum open streams" }),
};

export type RpcSettings = SettingsOf<typeof rpcSettings>;

/** Settings that contradict each other: one line each, saying what to change. */
export function rpcContradictions(settings: RpcSettings): readonly string[] {
  const { insecure, tlsCertFile, tlsKeyFile, tlsCaFile, mtls, adminTls } = settings;
  const files = [tlsCertFile, tlsKeyFile, tlsCaFile].some((file) => file !== undefined);
  if (insecure) {
    return files || mtls || adminTls
      ? ["--insecure means plaintext: remove it, or remove --mtls, --admin-tls and the --tls-…-file flags"]
      : [];
  }
  const faults: string[] = [];
  if (tlsCertFile === undefined || tlsKeyFile === undefined) {
    faults.push("--tls-cert-file and --tls-key-file are both required, or --insecure for plaintext");
  }
  if (mtls && tlsCaFile === undefined) faults.push("--mtls needs --tls-ca-file to verify the certificates of callers");
  return faults;
}
