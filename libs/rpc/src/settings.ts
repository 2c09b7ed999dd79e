import { adminTlsSettings, setting, type SettingsOf } from "@evenkeel/runtime";

/** What a service that speaks gRPC can be told; part of its table: `{ ...runtimeSettings, ...rpcSettings, … }`. */
export const rpcSettings = {
  grpcPort: setting.port({ default: "9090", help: "Port of gRPC" }),
  tlsCertFile: setting.text({ optional: true, help: "This process's certificate chain in PEM, for callers and peers" }),
  tlsKeyFile: setting.text({ optional: true, help: "The private key of --tls-cert-file in PEM" }),
  tlsCaFile: setting.text({
    optional: true,
    help: "Certificates in PEM that peers are checked by; the system's unless set",
  }),
  mtls: setting.boolean({ default: "false", help: "Take gRPC only from callers with a certificate of --tls-ca-file" }),
  insecure: setting.boolean({ default: "false", help: "Speak gRPC in plaintext; for loopback and tests" }),
  tlsReloadInterval: setting.duration({
    default: "10s",
    help: "How often the certificate files are read again; new connections use what they hold",
  }),
  ...adminTlsSettings,
  readAccess: setting.choice(
    "open",
    "token",
  )({
    default: "open",
    help: "Who may read the JSON API, the status page and the dashboard's data: anyone, or bearer tokens that may get and list the objects",
  }),
  grpcMaxMessage: setting.bytes({ default: "4Mi", help: "The largest message that is taken from a caller or a peer" }),
  grpcMaxCalls: setting.integer(
    1,
    100_000,
  )({ default: "256", help: "How many calls with one answer are served at once" }),
  grpcMaxStreams: setting.integer(1, 100_000)({ default: "1000", help: "How many streams are open at once" }),
};

export type RpcSettings = SettingsOf<typeof rpcSettings>;

/** Settings that cannot be meant together, one line each, saying what to change. */
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
    faults.push("--tls-cert-file and --tls-key-file are both needed; --insecure speaks plaintext instead");
  }
  if (mtls && tlsCaFile === undefined)
    faults.push("--mtls needs --tls-ca-file, which callers' certificates are checked by");
  return faults;
}
