/** May do everything at an API server that knows it. The token is the one of `kubeconfigFor` unless told. */
export const ADMIN = { name: "admin", groups: ["system:masters"], token: "secret" } as const;

export interface KubeconfigOptions {
  /** That of `ADMIN` unless told; null for none. */
  readonly token?: string | null;
  /** The path of the CA certificate that signed the server's. */
  readonly authority?: string;
}

/** The text of a kubeconfig with one cluster and one user. JSON is YAML. */
export function kubeconfigFor(server: string, { token = ADMIN.token, authority }: KubeconfigOptions = {}): string {
  const cluster = { server, ...(authority === undefined ? {} : { "certificate-authority": authority }) };
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "test", cluster }],
    users: [{ name: "test", user: token === null ? {} : { token } }],
    contexts: [{ name: "test", context: { cluster: "test", user: "test" } }],
    "current-context": "test",
  });
}
