import type { X509Certificate } from "node:crypto";
import type { Identity } from "../identity.ts";

/** The group of everyone whom the API server knows. */
export const AUTHENTICATED = "system:authenticated";

/** The key under which kube-apiserver notes by which credential a user came. */
export const CREDENTIAL_ID = "authentication.kubernetes.io/credential-id";

/** The attribute of a subject that holds the user's uid (Kubernetes 1.33). */
const UID_ATTRIBUTE = "1.3.6.1.4.1.57683.2";

type Subject = Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * The user of a client certificate as kube-apiserver reads it: the common name is the user, organizations are groups.
 * Undefined without a common name. Whether the certificate is valid is not looked at.
 */
export function identityOfCertificate(certificate: X509Certificate): Identity | undefined {
  const subject = certificate.toLegacyObject().subject as unknown as Subject;
  const user = listOf(subject["CN"]).at(-1) ?? "";
  if (user === "") return undefined;
  const uid = listOf(subject[UID_ATTRIBUTE]).at(-1);
  const fingerprint = certificate.fingerprint256.replaceAll(":", "").toLowerCase();
  return {
    user,
    uid: uid === "" ? undefined : uid,
    groups: [...new Set([...listOf(subject["O"]), AUTHENTICATED])],
    extra: { [CREDENTIAL_ID]: [`X509SHA256=${fingerprint}`] },
  };
}

/** The last common name of a certificate; empty if it has none. */
export function commonName(certificate: X509Certificate): string {
  const subject = certificate.toLegacyObject().subject as unknown as Subject;
  return listOf(subject["CN"]).at(-1) ?? "";
}

function listOf(value: string | readonly string[] | undefined): readonly string[] {
  return value === undefined ? [] : typeof value === "string" ? [value] : value;
}
