import type { Rebalance } from "@evenkeel/api";
import { BadSource } from "../errors.ts";
import type { SecretKey, SecretReader } from "../secret-reader.ts";
import type { Credentials } from "./address.ts";
import type { Trust } from "./connections.ts";

export type PrometheusSpec = NonNullable<NonNullable<Rebalance["spec"]["metrics"]>["prometheus"]>;

/** What goes along with a query, and what must not be seen of it. */
export interface Authorization {
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly trust: Trust;
  /** Values that are masked where a server repeats them. */
  readonly secrets: readonly string[];
}

/** The framing of a request is not for users to set. */
const RESERVED = new Set(["connection", "content-length", "content-type", "expect", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"]); // prettier-ignore
const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/**
 * Gathers what a spec asks to be sent, from its Secrets. A header of the spec's own goes before `auth`, and that before user
 * and password in the address. Throws coded errors that name the field or the Secret.
 */
export async function authorizationOf(
  spec: PrometheusSpec,
  user: Credentials | undefined,
  read: (key: SecretKey) => Promise<string>,
): Promise<Authorization> {
  const [authorization, headers, trust] = await Promise.all([
    authorizationHeader(spec.auth, user, read),
    Promise.all((spec.headers ?? []).map((header) => headerOf(header, read))),
    trustOf(spec.tls, read),
  ]);
  const secrets = headers.flatMap(({ value, isSecret }) => (isSecret ? [value] : []));
  return {
    headers: {
      ...(authorization && { authorization: authorization.header }),
      ...Object.fromEntries(headers.map(({ name, value }) => [name, value])),
    },
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
  user: Credentials | undefined,
  read: (key: SecretKey) => Promise<string>,
): Promise<{ readonly header: string; readonly secrets: readonly string[] } | undefined> {
  const { secretRef, bearerSecretRef } = auth ?? {};
  if (secretRef !== undefined && bearerSecretRef !== undefined)
    throw new BadSource({ fault: "auth has both secretRef and bearerSecretRef: leave one out" });
  if (bearerSecretRef !== undefined) {
    const token = await read(bearerSecretRef);
    return { header: checkedValue("auth.bearerSecretRef", `Bearer ${token}`), secrets: [token] };
  }
  if (secretRef !== undefined) {
    const { userSecretRef, passwordSecretRef } = secretRef;
    if (userSecretRef === undefined) throw new BadSource({ fault: "auth.secretRef has no userSecretRef" });
    if (passwordSecretRef === undefined) throw new BadSource({ fault: "auth.secretRef has no passwordSecretRef" });
    const [name, password] = await Promise.all([read(userSecretRef), read(passwordSecretRef)]);
    return basic({ name, password });
  }
  return user && basic(user);
}

function basic({ name, password }: Credentials) {
  const encoded = Buffer.from(`${name}:${password}`).toString("base64");
  return { header: `Basic ${encoded}`, secrets: [password, encoded] };
}

async function headerOf(
  { name, value, valueSecretRef }: NonNullable<PrometheusSpec["headers"]>[number],
  read: (key: SecretKey) => Promise<string>,
): Promise<{ readonly name: string; readonly value: string; readonly isSecret: boolean }> {
  const lower = name.toLowerCase();
  if (!HEADER_NAME.test(name)) throw new BadSource({ fault: `headers: ${JSON.stringify(name)} is no header's name` });
  if (RESERVED.has(lower)) throw new BadSource({ fault: `headers: ${name} cannot be set` });
  if ((value === undefined) === (valueSecretRef === undefined))
    throw new BadSource({ fault: `headers: ${name} needs either value or valueSecretRef` });
  const text = valueSecretRef === undefined ? (value ?? "") : await read(valueSecretRef);
  return { name: lower, value: checkedValue(`headers: ${name}`, text), isSecret: valueSecretRef !== undefined };
}

function checkedValue(where: string, value: string): string {
  if (HEADER_VALUE.test(value)) return value;
  throw new BadSource({ fault: `${where}: the value has characters that no header may have, such as a line break` });
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
