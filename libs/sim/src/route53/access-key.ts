/** Name of the Secret that `accessKeySecret` makes. */
const SECRET = "aws";

/** `auth` of a Rebalance that uses the Secret of `accessKeySecret` in its namespace. */
export const ACCESS_KEY_AUTH = {
  secretRef: {
    accessKeyIDSecretRef: { name: SECRET, key: "id" },
    secretAccessKeySecretRef: { name: SECRET, key: "key" },
  },
} as const;

/** A Secret with an access key. The simulated Route 53 accepts any. */
export function accessKeySecret(namespace: string) {
  const metadata = { namespace, name: SECRET };
  return { apiVersion: "v1", kind: "Secret", metadata, data: { id: btoa("AKIDEXAMPLE"), key: btoa("secret") } };
}
