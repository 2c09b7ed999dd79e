import { prometheusMilliseconds } from "@evenkeel/relabel";
import { z } from "zod";
import { SecretValue } from "./environment.ts";
import { isGoUrl } from "./go-url.ts";
import { plainFields, plainScalar, WrittenScalar } from "./written-scalar.ts";

/** The fields of a scrape configuration of Prometheus 3.15, apart from discovery. A field that it lacks is refused. */

/** YAML reads `1` and `true` as what they are; a field of text takes them as they are written. */
const text = () =>
  z
    .union([z.string(), z.number(), z.boolean(), z.instanceof(WrittenScalar)], { error: "expected text" })
    .transform((value) => String(value));

const secret = () => z.union([text(), z.instanceof(SecretValue)], { error: "expected text" });

const flag = () => z.preprocess(plainScalar, z.boolean());

const count = () => z.preprocess(plainScalar, z.int().min(0));

export const duration = () =>
  text().refine((value) => prometheusMilliseconds(value) !== undefined, {
    error: "expected a duration such as 30s or 1m",
  });

const size = () => text().refine((value) => isSize(value), { error: "expected a size below 8EB, such as 10MB" });

const PROTOCOLS = [
  "PrometheusProto",
  "OpenMetricsText0.0.1",
  "OpenMetricsText1.0.0",
  "PrometheusText1.0.0",
  "PrometheusText0.0.4",
] as const;

const protocol = () => z.enum(PROTOCOLS);

const protocols = () =>
  z
    .array(protocol())
    .min(1)
    .refine((list) => new Set(list).size === list.length, { error: "expected each protocol once" });

const proxy = {
  proxy_url: text().refine(isGoUrl, { error: "expected a URL" }).exactOptional(),
  no_proxy: text().exactOptional(),
  proxy_from_environment: flag().exactOptional(),
  proxy_connect_header: z.record(z.string(), z.array(secret())).exactOptional(),
};

const tlsVersion = () => z.enum(["TLS10", "TLS11", "TLS12", "TLS13"]);

const tlsConfig = z.strictObject({
  ca: secret().exactOptional(),
  cert: secret().exactOptional(),
  key: secret().exactOptional(),
  ca_file: text().exactOptional(),
  cert_file: text().exactOptional(),
  key_file: text().exactOptional(),
  server_name: text().exactOptional(),
  insecure_skip_verify: flag().exactOptional(),
  min_version: tlsVersion().exactOptional(),
  max_version: tlsVersion().exactOptional(),
});

const oauth2 = z.strictObject({
  client_id: text().refine((id) => id !== "", { error: "expected text" }),
  client_secret: secret().exactOptional(),
  client_secret_file: text().exactOptional(),
  client_certificate_key_id: text().exactOptional(),
  client_certificate_key: secret().exactOptional(),
  client_certificate_key_file: text().exactOptional(),
  grant_type: z.enum(["client_credentials", "urn:ietf:params:oauth:grant-type:jwt-bearer"]).exactOptional(),
  signature_algorithm: z.enum(["RS256", "RS384", "RS512"]).exactOptional(),
  iss: text().exactOptional(),
  audience: text().exactOptional(),
  claims: z.record(z.string(), z.unknown().transform(plainFields)).exactOptional(),
  scopes: z.array(text()).exactOptional(),
  token_url: text().refine((url) => url !== "", { error: "expected a URL" }),
  endpoint_params: z.record(z.string(), text()).exactOptional(),
  tls_config: tlsConfig.exactOptional(),
  ...proxy,
});

/** Headers that Prometheus sets itself. */
const RESERVED_HEADERS = new Set([
  ...["authorization", "host", "content-encoding", "content-length", "content-type", "user-agent", "connection"],
  ...["keep-alive", "proxy-authenticate", "proxy-authorization", "www-authenticate", "accept-encoding"],
  ...["x-prometheus-remote-write-version", "x-prometheus-remote-read-version"],
  ...["x-prometheus-scrape-timeout-seconds", "x-amz-date", "x-amz-security-token", "x-amz-content-sha256"],
]);

const header = z.strictObject({
  values: z.array(text()).exactOptional(),
  secrets: z.array(secret()).exactOptional(),
  files: z.array(text()).exactOptional(),
});

const httpClient = {
  basic_auth: z
    .strictObject({
      username: text().exactOptional(),
      username_file: text().exactOptional(),
      password: secret().exactOptional(),
      password_file: text().exactOptional(),
    })
    .exactOptional(),
  authorization: z
    .strictObject({
      type: text()
        .refine((type) => type.trim().toLowerCase() !== "basic", { error: "use basic_auth for basic authentication" })
        .exactOptional(),
      credentials: secret().exactOptional(),
      credentials_file: text().exactOptional(),
    })
    .exactOptional(),
  oauth2: oauth2.exactOptional(),
  bearer_token: secret().exactOptional(),
  bearer_token_file: text().exactOptional(),
  tls_config: tlsConfig.exactOptional(),
  follow_redirects: flag().exactOptional(),
  enable_http2: flag().exactOptional(),
  http_headers: z
    .record(
      z.string().refine((name) => !RESERVED_HEADERS.has(name.toLowerCase()), { error: "Prometheus sets this header" }),
      header,
    )
    .exactOptional(),
  ...proxy,
};

const relabelRule = z.strictObject({
  source_labels: z.array(text()).exactOptional(),
  separator: text().exactOptional(),
  regex: text()
    .nullable()
    .transform((regex) => regex ?? "")
    .exactOptional(),
  modulus: count().exactOptional(),
  target_label: text().exactOptional(),
  replacement: text().exactOptional(),
  action: text().exactOptional(),
});

const relabelRules = () => z.array(relabelRule).exactOptional();

/** A scrape configuration without its discovery blocks. */
export const scrapeConfig = z.strictObject({
  job_name: text().refine((name) => name !== "", { error: "expected text" }),
  honor_labels: flag().exactOptional(),
  honor_timestamps: flag().exactOptional(),
  track_timestamps_staleness: flag().exactOptional(),
  params: z.record(z.string(), z.array(text())).exactOptional(),
  scrape_interval: duration().exactOptional(),
  scrape_timeout: duration().exactOptional(),
  scrape_protocols: protocols().exactOptional(),
  fallback_scrape_protocol: protocol().exactOptional(),
  scrape_native_histograms: flag().exactOptional(),
  always_scrape_classic_histograms: flag().exactOptional(),
  convert_classic_histograms_to_nhcb: flag().exactOptional(),
  scrape_failure_log_file: text().exactOptional(),
  metrics_path: text().exactOptional(),
  scheme: text().exactOptional(),
  enable_compression: flag().exactOptional(),
  body_size_limit: size().exactOptional(),
  sample_limit: count().exactOptional(),
  target_limit: count().exactOptional(),
  label_limit: count().exactOptional(),
  label_name_length_limit: count().exactOptional(),
  label_value_length_limit: count().exactOptional(),
  native_histogram_bucket_limit: count().exactOptional(),
  native_histogram_min_bucket_factor: z.preprocess(plainScalar, z.number()).exactOptional(),
  keep_dropped_targets: count().exactOptional(),
  metric_name_validation_scheme: z.enum(["utf8", "legacy"]).exactOptional(),
  metric_name_escaping_scheme: z.enum(["allow-utf-8", "underscores", "dots", "values"]).exactOptional(),
  extra_scrape_metrics: flag().exactOptional(),
  relabel_configs: relabelRules(),
  metric_relabel_configs: relabelRules(),
  ...httpClient,
});

export type ScrapeConfig = z.output<typeof scrapeConfig>;

/** What jobs take from `global` where they do not say it themselves. */
export const globalConfig = z.looseObject({
  scrape_interval: duration().exactOptional(),
  scrape_timeout: duration().exactOptional(),
  scrape_native_histograms: flag().exactOptional(),
  always_scrape_classic_histograms: flag().exactOptional(),
  convert_classic_histograms_to_nhcb: flag().exactOptional(),
  metric_name_validation_scheme: z.enum(["utf8", "legacy"]).exactOptional(),
});

export type GlobalConfig = z.output<typeof globalConfig>;

type Rule = readonly [condition: (config: ScrapeConfig) => boolean, field: string, message: string];

/** Fields that Prometheus refuses together. */
const CONTRADICTIONS: readonly Rule[] = [
  [
    ({ basic_auth, authorization, oauth2: token, bearer_token, bearer_token_file }) =>
      countOf(basic_auth, authorization, token, bearer_token ?? bearer_token_file) > 1,
    "authorization",
    "at most one of basic_auth, authorization, oauth2 and bearer_token can be set",
  ],
  [
    ({ bearer_token, bearer_token_file }) => countOf(bearer_token, bearer_token_file) > 1,
    "bearer_token",
    "set bearer_token or bearer_token_file, not both",
  ],
  [
    ({ basic_auth }) => countOf(basic_auth?.username, basic_auth?.username_file) > 1,
    "basic_auth.username",
    "set username or username_file, not both",
  ],
  [
    ({ basic_auth }) => countOf(basic_auth?.password, basic_auth?.password_file) > 1,
    "basic_auth.password",
    "set password or password_file, not both",
  ],
  [
    ({ authorization }) => countOf(authorization?.credentials, authorization?.credentials_file) > 1,
    "authorization.credentials",
    "set credentials or credentials_file, not both",
  ],
  [
    ({ oauth2: token }) => countOf(token?.client_secret, token?.client_secret_file) > 1,
    "oauth2.client_secret",
    "set client_secret or client_secret_file, not both",
  ],
  ...(["ca", "cert", "key"] as const).map((part): Rule => [
    ({ tls_config }) => countOf(tls_config?.[part], tls_config?.[`${part}_file`]) > 1,
    `tls_config.${part}`,
    `set ${part} or ${part}_file, not both`,
  ]),
  [({ tls_config }) => isHalf(tls_config), "tls_config", "a client certificate needs both cert and key"],
  [
    ({ oauth2: token }) => isHalf(token?.tls_config),
    "oauth2.tls_config",
    "a client certificate needs both cert and key",
  ],
  [
    ({ oauth2: token }) => token?.no_proxy !== undefined && token.proxy_url === undefined,
    "oauth2.no_proxy",
    "it needs proxy_url",
  ],
  [
    ({ proxy_url, no_proxy, proxy_from_environment }) =>
      proxy_from_environment === true && countOf(proxy_url, no_proxy) > 0,
    "proxy_from_environment",
    "set it, or proxy_url and no_proxy",
  ],
  [({ proxy_url, no_proxy }) => no_proxy !== undefined && proxy_url === undefined, "no_proxy", "it needs proxy_url"],
  [
    ({ metric_name_escaping_scheme: escaping, metric_name_validation_scheme: names }) =>
      escaping === "allow-utf-8" && names === "legacy",
    "metric_name_escaping_scheme",
    "allow-utf-8 needs metric_name_validation_scheme utf8",
  ],
];

/** The first pair of fields that Prometheus refuses together. */
export function contradictionOf(
  config: ScrapeConfig,
  { metric_name_validation_scheme: names = "utf8" }: GlobalConfig,
): { field: string; message: string } | undefined {
  const whole = { metric_name_validation_scheme: names, ...config };
  const found = CONTRADICTIONS.find(([holds]) => holds(whole));
  return found && { field: found[1], message: found[2] };
}

function isHalf({ cert, cert_file, key, key_file }: NonNullable<ScrapeConfig["tls_config"]> = {}): boolean {
  return ((cert ?? cert_file) === undefined) !== ((key ?? key_file) === undefined);
}

/** Prometheus counts sizes in 64 bits. A unit has 1024 of the one before, with or without an `i`. */
function isSize(text: string): boolean {
  if (!/^(0|(\d+(\.\d+)?([KMGTPE]i?)?B)+)$/.test(text)) return false;
  let bytes = 0;
  for (const [, count = "", unit = ""] of text.matchAll(/([\d.]+)([KMGTPE]?)/g))
    bytes += Number(count) * 1024 ** (1 + "KMGTPE".indexOf(unit || " "));
  return bytes < 2 ** 63;
}

function countOf(...values: readonly unknown[]): number {
  return values.filter((value) => value !== undefined && value !== "").length;
}
