import type { Rebalance } from "@evenkeel/api";
import { basicAuthorization, headerFault, type Trust } from "@evenkeel/prometheus";
import { BadSource } from "../errors.ts";
import type { SecretKey, SecretReader } from "../secret-reader.ts";

export type PrometheusSpec = NonNullable<NonNullable<Rebalance["spec"]["metrics"]>["prometheus"]>;

/** What is sent with a query, and which of its values are secret. */
export interface Authorization {
  /** The header for `auth`. */
  readonly authorization: string | undefined;
  /** The headers of the spec, with lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly trust: Trust;
  /** Values that are masked where a server repeats them. */
  readonly secrets: readonly string[];
}

/** Reads what a query sends from the spec and its Secrets. Throws coded errors that name the field or the Secret. */
export async function authorizationOf(
  spec: PrometheusSpec,
  read: (key: SecretKey) => Promise<string>,
): Promise<Authorization> {
  const [authorization, headers, trust] = await Promise.all([
    authorizationHeader(spec.auth, read),
    Promise.all((spec.headers ?? []).map((header) => headerOf(header, read))),
    trustOf(spec.tls, read),
  ]);
  const secrets = headers.flatMap(({ value, isSecret }) => (isSecret ? [value] : []));
  return {
    authorization: authorization?.header,
    headers: Object.fromEntries(headers.map(({ name, value }) => [name, value])),
    trust,
    secrets: [...(authorization?.secrets ?? []), ...secrets].filter((secret) => secret !== ""),
  };
}

/** Reads for an object in `namespace` until `signal` aborts. */
export function secretsOf(secrets: SecretReader, namespace: string, signal: AbortSignal) {
  return (key: SecretKey): Promise<string> => secrets.read(namespace, key, signal);
}

async function authorizationHeader(
  auth: PrometheusSpec["auth"],
  read: (key: SecretKey) => Promise<string>,
): Promise<{ readonly header: string; readonly secrets: readonly string[] } | undefined> {
  const { secretRef, bearerSecretRef } = auth ?? {};
  if (secretRef !== undefined && bearerSecretRef !== undefined)
    throw new BadSource({ fault: "auth has both secretRef and bearerSecretRef: remove one of them" });
  if (bearerSecretRef !== undefined) {
    const token = await read(bearerSecretRef);
    const fault = headerFault("auth.bearerSecretRef", token);
    if (fault !== undefined) throw new BadSource({ fault });
    return { header: `Bearer ${token}`, secrets: [token] };
  }
  if (secretRef !== undefined) {
    const { userSecretRef, passwordSecretRef } = secretRef;
    if (userSecretRef === undefined) throw new BadSource({ fault: "auth.secretRef has no userSecretRef" });
    if (passwordSecretRef === undefined) throw new BadSource({ fault: "auth.secretRef has no passwordSecretRef" });
    const [name, password] = await Promise.all([read(userSecretRef), read(passwordSecretRef)]);
    return basicAuthorization({ name, password });
  }
  return undefined;
}

async function headerOf(
  { name, value, valueSecretRef }: NonNullable<PrometheusSpec["headers"]>[number],
  read: (key: SecretKey) => Promise<string>,
): Promise<{ readonly name: string; readonly value: string; readonly isSecret: boolean }> {
  const nameFault = headerFault(name);
  if (nameFault !== undefined) throw new BadSource({ fault: `headers: ${nameFault}` });
  // Behind a shared gateway it would name another server than the one that may be asked.
  if (name.toLowerCase() === "host") throw new BadSource({ fault: "headers: host cannot be set: name it in address" });
  if ((value === undefined) === (valueSecretRef === undefined))
    throw new BadSource({ fault: `headers: ${name} needs either value or valueSecretRef` });
  const text = valueSecretRef === undefined ? (value ?? "") : await read(valueSecretRef);
  const fault = headerFault(name, text);
  if (fault !== undefined) throw new BadSource({ fault: `headers: ${fault}` });
  return { name: name.toLowerCase(), value: text, isSecret: valueSecretRef !== undefined };
}

async function trustOf(tls: PrometheusSpec["tls"], read: (key: SecretKey) => Promise<string>): Promise<Trust> {
  if (tls === undefined) return {};
  const { caSecretRef, certSecretRef, keySecretRef, serverName, insecureSkipVerify } = tls;
  if ((certSecretRef === undefined) !== (keySecretRef === undefined))
    throw new BadSource({ fault: "tls needs both certSecretRef and keySecretRef, or neither" });
  const readIfSet = async (reference: SecretKey | undefined) => reference && read(reference);
  const [ca, cert, key] = await Promise.all([caSecretRef, certSecretRef, keySecretRef].map(readIfSet));
  return {
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
    ...(serverName !== undefined && { servername: serverName }),
    ...(insecureSkipVerify === true && { rejectUnauthorized: false }),
  };
}
