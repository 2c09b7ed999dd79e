import { z } from "zod";
import { duration, httpDefaults, readableFile } from "./config-fields.ts";
import type { HttpBlock, SecretText, TlsVersion } from "./discovery-block.ts";
import type { DiscoveryLimits } from "./discovery-limits.ts";

const TLS_VERSIONS: Readonly<Record<string, TlsVersion>> = {
  TLS10: "TLSv1",
  TLS11: "TLSv1.1",
  TLS12: "TLSv1.2",
  TLS13: "TLSv1.3",
};

const url = z
  .url({ protocol: /^https?$/, message: "a URL that begins with http:// or https:// is required" })
  .refine((text) => URL.canParse(text) && !hasUser(new URL(text)), "put the user into basic_auth");
const tlsVersion = z
  .enum(Object.keys(TLS_VERSIONS))
  .optional()
  .transform((version) => (version === undefined ? undefined : TLS_VERSIONS[version]));

/** One entry of `http_sd_configs`. OAuth2 and proxies are not supported. */
export function httpConfig(limits: DiscoveryLimits) {
  const file = readableFile(limits).optional();
  const text = z.string().optional();
  const schema = z.strictObject({
    ...httpDefaults,
    url,
    refresh_interval: duration(60_000),
    basic_auth: z
      .strictObject({ username: text, username_file: file, password: text, password_file: file })
      .refine(oneOf("username"), "give either username or username_file")
      .refine(oneOf("password"), "give either password or password_file")
      .optional(),
    authorization: z
      .strictObject({
        type: z
          .string()
          .trim()
          .default("")
          .refine((type) => type.toLowerCase() !== "basic", "use basic_auth"),
        credentials: text,
        credentials_file: file,
      })
      .refine(oneOf("credentials"), "give either credentials or credentials_file")
      .optional(),
    bearer_token: text,
    bearer_token_file: file,
    http_headers: z
      .record(
        z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/),
        z.strictObject({
          values: z.array(z.string()).default([]),
          secrets: z.array(z.string()).default([]),
          files: z.array(readableFile(limits)).default([]),
        }),
      )
      .default({}),
    tls_config: z
      .strictObject({
        ...{ ca: text, ca_file: file, cert: text, cert_file: file, key: text, key_file: file },
        server_name: text,
        insecure_skip_verify: z.boolean().default(false),
        min_version: tlsVersion,
        max_version: tlsVersion,
      })
      .default({ insecure_skip_verify: false, min_version: undefined, max_version: undefined }),
  });
  return schema
    .refine(
      ({ basic_auth: basic, authorization, bearer_token: token, bearer_token_file: tokenFile }) =>
        [basic, authorization, token, tokenFile].filter((each) => each !== undefined).length <= 1,
      {
        path: ["authorization"],
        message: "give only one of basic_auth, authorization, bearer_token and bearer_token_file",
      },
    )
    .transform(blockOf);

  function blockOf(config: z.output<typeof schema>): HttpBlock {
    const { basic_auth: basic, authorization, tls_config: tls } = config;
    const token = secret(config.bearer_token, config.bearer_token_file);
    const credentials = authorization && secret(authorization.credentials, authorization.credentials_file);
    const type = authorization?.type;
    return {
      mechanism: "http",
      url: config.url,
      refreshInterval: config.refresh_interval,
      basicAuth: basic && {
        username: secret(basic.username, basic.username_file) ?? { text: "" },
        password: secret(basic.password, basic.password_file) ?? { text: "" },
      },
      authorization:
        credentials === undefined
          ? token && { type: "Bearer", credentials: token }
          : { type: type === undefined || type === "" ? "Bearer" : type, credentials },
      headers: Object.entries(config.http_headers).map(([name, { values, secrets, files }]) => ({
        name,
        values: [
          ...[...values, ...secrets].map((value) => ({ text: value })),
          ...files.map((path) => ({ file: path })),
        ],
      })),
      tls: {
        ca: secret(tls.ca, tls.ca_file),
        cert: secret(tls.cert, tls.cert_file),
        key: secret(tls.key, tls.key_file),
        serverName: tls.server_name,
        insecureSkipVerify: tls.insecure_skip_verify,
        minVersion: tls.min_version,
        maxVersion: tls.max_version,
      },
    };
  }
}

function hasUser({ username, password }: URL): boolean {
  return username !== "" || password !== "";
}

function secret(text: string | undefined, file: string | undefined): SecretText | undefined {
  if (file !== undefined) return { file };
  return text === undefined ? undefined : { text };
}

function oneOf(field: string) {
  return (config: Readonly<Record<string, unknown>>): boolean =>
    config[field] === undefined || config[`${field}_file`] === undefined;
}
