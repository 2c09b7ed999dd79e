import { createHash } from "node:crypto";
import type { Rebalance } from "@evenkeel/api";
import { Route53AmbientDenied, Route53BadEndpoint, Route53EndpointDenied, Route53NoCredentials } from "../../errors.ts";
import type { SecretReader } from "../../observe/secret-reader.ts";
import { zoneId } from "./record-name.ts";

export type Route53Spec = NonNullable<NonNullable<Rebalance["spec"]["target"]>["route53"]>;

/** A static access key. It never appears in messages, logs or names. */
export interface AccessKey {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

export type AssumedRole = NonNullable<NonNullable<Route53Spec["auth"]>["assumeRole"]>;

/** The credentials and region for calls to Route 53. */
export interface AwsIdentity {
  readonly region: string;
  /** Undefined: AWS's own. */
  readonly endpoint: string | undefined;
  /** Undefined: what the SDK finds in the environment. */
  readonly key: AccessKey | undefined;
  /** Taken with the key, or with what the environment has. */
  readonly role: AssumedRole | undefined;
}

/** The region that signs for Route 53 wherever its zones are used. */
const HOME_REGION = "us-east-1";

export interface IdentityOptions {
  readonly secrets: SecretReader;
  /** Namespaces whose objects may use the identity of this process. */
  readonly ambient: ReadonlySet<string>;
}

/**
 * Reads what a spec names. Rejects with coded errors when a Secret is missing, names are incomplete, or the object may
 * not use the identity of this process. Credentials of this process are never sent to an address of a spec.
 */
export async function readIdentity(
  namespace: string,
  spec: Route53Spec,
  { secrets, ambient }: IdentityOptions,
  signal: AbortSignal,
): Promise<AwsIdentity> {
  const { region, endpoint, auth } = spec;
  const zone = zoneId(spec.hostedZoneID);
  if (endpoint !== undefined && !isWebAddress(endpoint)) throw new Route53BadEndpoint({ zone, endpoint });
  if (auth?.secretRef === undefined) {
    if (!ambient.has(namespace)) throw new Route53AmbientDenied({ zone, namespace });
    if (endpoint !== undefined) throw new Route53EndpointDenied({ zone });
  }
  return {
    region: region === undefined || region === "" ? HOME_REGION : region,
    endpoint,
    key: auth?.secretRef && (await readKey(namespace, spec, auth.secretRef, secrets, signal)),
    role: auth?.assumeRole,
  };
}

/** The same text for the same identity and for no other; nothing of the secrets can be read from it. */
export function fingerprint({ region, endpoint, key, role }: AwsIdentity): string {
  const parts = [
    ...[region, endpoint ?? null, key?.accessKeyId ?? null, key?.secretAccessKey ?? null, key?.sessionToken ?? null],
    ...[role?.roleARN ?? null, role?.externalID ?? null, role?.sessionName ?? null],
  ];
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}

/**
 * Groups of identities with one request limit. A role's ARN holds its account's number; of a key only its id is known,
 * so that two keys of one account count apart.
 */
export function accountOf({ endpoint, key, role }: AwsIdentity): string {
  const number = /^arn:[^:]*:iam::(\d{12}):/.exec(role?.roleARN ?? "")?.[1];
  const account = number ?? role?.roleARN ?? key?.accessKeyId ?? "environment";
  return createHash("sha256")
    .update(JSON.stringify([endpoint ?? null, account]))
    .digest("hex");
}

async function readKey(
  namespace: string,
  { hostedZoneID }: Route53Spec,
  secretRef: NonNullable<NonNullable<Route53Spec["auth"]>["secretRef"]>,
  secrets: SecretReader,
  signal: AbortSignal,
): Promise<AccessKey> {
  const { accessKeyIDSecretRef, secretAccessKeySecretRef, sessionTokenSecretRef } = secretRef;
  const zone = zoneId(hostedZoneID);
  if (accessKeyIDSecretRef === undefined || secretAccessKeySecretRef === undefined) {
    const missing = accessKeyIDSecretRef === undefined ? "accessKeyIDSecretRef" : "secretAccessKeySecretRef";
    throw new Route53NoCredentials({ zone, fault: `auth.secretRef has no ${missing}` });
  }
  const [accessKeyId, secretAccessKey, sessionToken] = await Promise.all([
    secrets.read(namespace, accessKeyIDSecretRef, signal),
    secrets.read(namespace, secretAccessKeySecretRef, signal),
    sessionTokenSecretRef && secrets.read(namespace, sessionTokenSecretRef, signal),
  ]);
  const key = { accessKeyId: accessKeyId.trim(), secretAccessKey: secretAccessKey.trim() };
  if (key.accessKeyId === "" || key.secretAccessKey === "")
    throw new Route53NoCredentials({ zone, fault: "a value that auth.secretRef names is empty" });
  return sessionToken === undefined ? key : { ...key, sessionToken: sessionToken.trim() };
}

function isWebAddress(text: string): boolean {
  return URL.canParse(text) && ["http:", "https:"].includes(new URL(text).protocol);
}
