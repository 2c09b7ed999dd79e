import { createHash } from "node:crypto";
import type { SecretValue } from "./environment.ts";
import type { ScrapeConfig } from "./scrape-config.ts";

/** Where the pods of collectors find the files. */
export const SECRETS_FOLDER = "/etc/evenkeel/scrape-secrets";

/** Passwords, tokens and keys by the name of the file that holds each. */
export type SecretFiles = ReadonlyMap<string, string | SecretValue>;

type Secret = string | SecretValue;
type TlsConfig = NonNullable<ScrapeConfig["tls_config"]>;

export type WithoutSecrets =
  | { readonly ok: true; readonly config: ScrapeConfig; readonly files: SecretFiles }
  | { readonly ok: false; readonly field: string; readonly message: string };

/**
 * The scrape configuration with each password, token and key replaced by a file that Prometheus reads again by itself.
 * `job` keeps the names of files of different jobs apart.
 */
export function withoutSecrets(job: string, config: ScrapeConfig): WithoutSecrets {
  const stuck = secretWithoutFile(config);
  if (stuck !== undefined) return { ok: false, ...stuck };
  const files = new Map<string, Secret>();
  const file = (field: string, value: Secret) => {
    const name = `${field.replaceAll(/[^A-Za-z0-9]+/g, "-")}-${hash(`${job}\n${field}`)}`;
    files.set(name, value);
    return `${SECRETS_FOLDER}/${name}`;
  };
  const moved: Record<string, unknown> = { ...config };
  const { basic_auth, authorization, oauth2, bearer_token, tls_config, http_headers } = config;
  if (bearer_token !== undefined) {
    delete moved["bearer_token"];
    moved["authorization"] = { type: "Bearer", credentials_file: file("bearer_token", bearer_token) };
  }
  if (basic_auth) moved["basic_auth"] = inFiles(basic_auth, ["password"], "basic_auth", file);
  if (authorization) moved["authorization"] = inFiles(authorization, ["credentials"], "authorization", file);
  if (tls_config) moved["tls_config"] = tlsInFiles(tls_config, "tls_config", file);
  if (oauth2) {
    const { tls_config: tls, ...rest } = oauth2;
    moved["oauth2"] = {
      ...inFiles(rest, ["client_secret", "client_certificate_key"], "oauth2", file),
      ...(tls && { tls_config: tlsInFiles(tls, "oauth2.tls_config", file) }),
    };
  }
  if (http_headers) {
    const headers = Object.entries(http_headers).map(([name, { secrets = [], files: given = [], ...rest }]) => {
      const added = secrets.map((value, index) => file(`http_headers.${name}.${index}`, value));
      const all = [...given, ...added];
      return [name, { ...rest, ...(all.length > 0 && { files: all }) }];
    });
    moved["http_headers"] = Object.fromEntries(headers);
  }
  return { ok: true, config: moved as ScrapeConfig, files };
}

type FileOf = (field: string, value: Secret) => string;

function tlsInFiles(tls: TlsConfig, where: string, file: FileOf) {
  return inFiles(tls, ["ca", "cert", "key"], where, file);
}

/** Each of `names` becomes the field of the same name with `_file`. */
function inFiles(fields: object, names: readonly string[], where: string, file: FileOf): Record<string, unknown> {
  const entries = Object.entries(fields as Record<string, unknown>).map(([name, value]) =>
    names.includes(name) ? [`${name}_file`, file(`${where}.${name}`, value as Secret)] : [name, value],
  );
  return Object.fromEntries(entries) as Record<string, unknown>;
}

/** Prometheus reads these only from the configuration itself. */
function secretWithoutFile({ proxy_connect_header, oauth2, proxy_url }: ScrapeConfig) {
  const header = "its values cannot be read from a file, so they would be served in the clear: remove it";
  if (proxy_connect_header !== undefined) return { field: "proxy_connect_header", message: header };
  if (oauth2?.proxy_connect_header !== undefined) return { field: "oauth2.proxy_connect_header", message: header };
  const user = "its user and password would be served in the clear: remove them from the URL";
  if (hasUser(proxy_url)) return { field: "proxy_url", message: user };
  if (hasUser(oauth2?.proxy_url)) return { field: "oauth2.proxy_url", message: user };
  if (hasUser(oauth2?.token_url)) return { field: "oauth2.token_url", message: user };
  const parameter = Object.keys(oauth2?.endpoint_params ?? {}).find((name) => SECRET_PARAMETER.test(name));
  if (parameter === undefined) return undefined;
  const message = "it cannot be read from a file, so it would be served in the clear: use client_secret";
  return { field: `oauth2.endpoint_params.${parameter}`, message };
}

/** Parameters of token requests that are secrets by OAuth 2.0, or by their name. */
const SECRET_PARAMETER = /(?:password|secret|assertion|token|api_?key)$/i;

/** Whether a user, a password or a token stands before the host, also in a URL that cannot be parsed. */
function hasUser(url = ""): boolean {
  const afterScheme = url.replace(/^(?:[^/?#]*:)?\/\//, "");
  return /^[^/?#]*@/.test(afterScheme);
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 12);
}
