import { expect, test } from "@jest/globals";
import { parse } from "yaml";
import { readConfiguration, rewritten } from "./collector-configuration.ts";
import { podEnvironment, SecretValue } from "./environment.ts";
import { SECRETS_FOLDER } from "./secret-files.ts";

const NO_TEMPLATE = {};

function read(text: string, podTemplate: unknown = NO_TEMPLATE) {
  return readConfiguration(text, podEnvironment(podTemplate));
}

/** A configuration with these jobs in the receiver `prometheus`, each as YAML in flow style. */
function withJobs(...jobs: readonly string[]): string {
  return `receivers: {prometheus: {config: {scrape_configs: [${jobs.join(", ")}]}}}`;
}

function env(...variables: readonly unknown[]): unknown {
  return { spec: { containers: [{ name: "aoc2", env: variables }] } };
}

test("reads jobs of every prometheus receiver, with their discovery apart from what is served", () => {
  const { jobs, faults, receivers } = read(`
receivers:
  prometheus:
    config:
      global: {scrape_interval: 15s}
      scrape_configs:
        - {job_name: shop, static_configs: [{targets: ["a:80"]}], honor_labels: true, relabel_configs: [{target_label: x, replacement: 1}]}
  prometheus/edge: {config: {scrape_configs: [{job_name: shop, scrape_interval: 5s}]}}
  otlp: {}
`);
  expect(faults).toEqual([]);
  expect(receivers).toEqual(["prometheus", "prometheus/edge"]);
  expect(jobs.map(({ key }) => key)).toEqual(["prometheus/shop", "prometheus/edge/shop"]);
  const [shop, edge] = jobs;
  expect(shop?.discovery).toEqual({ static_configs: [{ targets: ["a:80"] }] });
  expect(shop?.served).toEqual({ job_name: "shop", honor_labels: true });
  expect(shop?.scrape).toMatchObject({ scrapeInterval: "15s", scrapeTimeout: "10s", scheme: "http", names: "utf8" });
  expect(shop?.scrape.rules).toEqual([{ target_label: "x", replacement: "1" }]);
  expect(edge?.scrape).toMatchObject({ scrapeInterval: "5s", scrapeTimeout: "5s" });
});

test.each([
  ["an unknown field", "{job_name: a, scrape_intervall: 5s}", ""],
  ["a wrong type", "{job_name: a, honor_labels: [1]}", "honor_labels"],
  ["a duration that is none", "{job_name: a, scrape_interval: 5 seconds}", "scrape_interval"],
  ["a timeout above the interval", "{job_name: a, scrape_interval: 5s, scrape_timeout: 6s}", "scrape_timeout"],
  ["an unknown protocol", "{job_name: a, scrape_protocols: [Text]}", "scrape_protocols[0]"],
  ["a rule with an unknown field", "{job_name: a, relabel_configs: [{}, {target: x}]}", "relabel_configs[1]"],
  [
    "a rule without its target",
    "{job_name: a, relabel_configs: [{action: replace}]}",
    "relabel_configs[0].target_label",
  ],
  [
    "a bad regex",
    '{job_name: a, metric_relabel_configs: [{regex: "(", action: drop}]}',
    "metric_relabel_configs[0].regex",
  ],
  ["two kinds of credentials", "{job_name: a, basic_auth: {username: u}, bearer_token: t}", "authorization"],
  ["a password and its file", "{job_name: a, basic_auth: {password: a, password_file: b}}", "basic_auth.password"],
  ["half a client certificate", "{job_name: a, tls_config: {cert_file: c}}", "tls_config"],
  ["a header that Prometheus sets", "{job_name: a, http_headers: {Host: {values: [x]}}}", "http_headers.Host"],
  ["a secret that has no file form", "{job_name: a, proxy_connect_header: {X: [y]}}", "proxy_connect_header"],
  ["a password in a URL", '{job_name: a, proxy_url: "http://u:p@proxy"}', "proxy_url"],
  ["a proxy with a space in its name", '{job_name: a, proxy_url: "http://bad host:80"}', "proxy_url"],
  ["a proxy without a scheme", '{job_name: a, proxy_url: ":foo"}', "proxy_url"],
  [
    "half a client certificate for tokens",
    "{job_name: a, oauth2: {client_id: c, token_url: t, tls_config: {cert_file: c}}}",
    "oauth2.tls_config",
  ],
  [
    "exceptions from no proxy for tokens",
    "{job_name: a, oauth2: {client_id: c, token_url: t, no_proxy: x}}",
    "oauth2.no_proxy",
  ],
  ["a user in a URL", '{job_name: a, proxy_url: "http://token@proxy"}', "proxy_url"],
  [
    "a password in the URL of tokens",
    '{job_name: a, oauth2: {client_id: c, token_url: "https://u:p@idp/token"}}',
    "oauth2.token_url",
  ],
  [
    "a password among the parameters of a token request",
    "{job_name: a, oauth2: {client_id: c, token_url: https://idp, endpoint_params: {audience: x, password: p}}}",
    "oauth2.endpoint_params.password",
  ],
  ["a variable that is not known", '{job_name: a, params: {x: ["${env:NOWHERE}"]}}', "params.x[0]"],
  ["a file reference", '{job_name: a, scheme: "${file:/etc/passwd}"}', "scheme"],
])("refuses %s, and goes on with the other jobs", (_what, job, field) => {
  const { jobs, faults } = read(withJobs(job, "{job_name: good}"));
  expect(faults).toMatchObject([{ job: "prometheus/a", field }]);
  expect(jobs.map(({ name }) => name)).toEqual(["good"]);
});

test("refuses UTF-8 names in a job where global has legacy ones, unless the job has UTF-8 too", () => {
  const escaping = "metric_name_escaping_scheme: allow-utf-8";
  const { jobs, faults } = read(`
receivers:
  prometheus:
    config:
      global: {metric_name_validation_scheme: legacy}
      scrape_configs:
        - {job_name: a, ${escaping}}
        - {job_name: b, ${escaping}, metric_name_validation_scheme: utf8}
`);
  expect(faults).toMatchObject([{ job: "prometheus/a", field: "metric_name_escaping_scheme" }]);
  expect(jobs.map(({ name }) => name)).toEqual(["b"]);
});

test("counts the jobs of each receiver, so that one without jobs is told apart from one whose jobs are all faulty", () => {
  const receivers = { prometheus: { config: { scrape_configs: [{ job_name: 7, bad: 1 }] } }, "prometheus/self": {} };
  const { jobs, jobCounts } = read(JSON.stringify({ receivers }));
  expect(jobs).toEqual([]);
  expect(jobCounts).toEqual(
    new Map([
      ["prometheus", 1],
      ["prometheus/self", 0],
    ]),
  );
});

test("names the second of two jobs of one name, and a file of jobs", () => {
  const { jobs, faults } = read(
    "receivers: {prometheus: {config: {scrape_config_files: [x], scrape_configs: [{job_name: a}, {job_name: a}]}}}",
  );
  expect(jobs).toHaveLength(1);
  expect(faults.map(({ field }) => field)).toEqual(["receivers.prometheus.config.scrape_config_files", "job_name"]);
});

test("fills in variables of podTemplate with their types, and undoes the doubled dollar", () => {
  const template = env({ name: "PATHNAME", value: "/m" }, { name: "LIMIT", value: "7" });
  const job = [
    '{job_name: a, metrics_path: "${env:PATHNAME}/x", sample_limit: "${LIMIT}", scheme: "${env:NONE:-https}",',
    'metric_relabel_configs: [{replacement: "$$1", target_label: a$$}]}',
  ].join(" ");
  const { jobs, faults } = read(withJobs(job), template);
  expect(faults).toEqual([]);
  expect(jobs[0]?.served).toMatchObject({
    metrics_path: "/m/x",
    sample_limit: 7,
    scheme: "https",
    metric_relabel_configs: [{ replacement: "$1", target_label: "a$" }],
  });
});

test("replaces every password, token and key by a file, and serves none of them", () => {
  const secrets = ["{basic_auth: {username: u, password: hunter2}}", "{bearer_token: hunter2}"];
  secrets.push("{authorization: {credentials: hunter2}}", "{tls_config: {ca: hunter2, cert: hunter2, key: hunter2}}");
  secrets.push("{oauth2: {client_id: c, token_url: t, client_secret: hunter2, tls_config: {ca: hunter2}}}");
  secrets.push("{http_headers: {X: {values: [v], secrets: [hunter2], files: [f]}}}");
  const { jobs, faults } = read(withJobs(...secrets.map((each, index) => each.replace("{", `{job_name: j${index}, `))));
  expect(faults).toEqual([]);
  expect(jobs).toHaveLength(secrets.length);
  expect(JSON.stringify(jobs.map(({ served }) => served))).not.toContain("hunter2");
  const files = jobs.flatMap(({ secretFiles }) => [...secretFiles]);
  expect(new Set(files.map(([name]) => name)).size).toBe(files.length);
  for (const [name, value] of files) {
    expect(name).toMatch(/^[-._a-zA-Z0-9]+$/);
    expect(value).toBe("hunter2");
  }
  expect(jobs[0]?.served).toMatchObject({
    basic_auth: { username: "u", password_file: expect.stringContaining(SECRETS_FOLDER) },
  });
  expect(jobs[5]?.served).toMatchObject({ http_headers: { X: { values: ["v"], files: ["f", expect.any(String)] } } });
});

test("mounts a key of a user's Secret instead of reading it, where the field is a secret", () => {
  const template = env({ name: "PASSWORD", valueFrom: { secretKeyRef: { name: "shop", key: "password" } } });
  const { jobs, faults } = read(
    withJobs('{job_name: a, basic_auth: {password: "${env:PASSWORD}"}}', '{job_name: b, scheme: "${env:PASSWORD}"}'),
    template,
  );
  expect([...(jobs[0]?.secretFiles.values() ?? [])]).toEqual([new SecretValue("shop", "password")]);
  expect(faults).toMatchObject([{ job: "prometheus/b", field: "scheme" }]);
});

test.each([
  ["is not YAML", "a: [", /./],
  ["has a key twice", "a: 1\na: 2", /unique/],
  ["is a list", "[1]", /map/],
  ["has no prometheus receiver", "receivers: {otlp: {}}", /prometheus/],
  ["is too long", `receivers: {prometheus: {}} #${"x".repeat(1_000_001)}`, /characters/],
  ["nests lists too deeply", `a: ${"[".repeat(101)}${"]".repeat(101)}`, /nest/],
  ["nests maps too deeply", `a: ${"{a: ".repeat(900_000 / 4)}`, /nest/],
  ["nests lists too deeply in one line", `a:\n  ${"- ".repeat(101)}x`, /nest/],
  ["nests keys too deeply in one line", `${"? ".repeat(101)}x`, /nest/],
  [
    "is a bomb of aliases",
    `a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]`,
    /aliases/,
  ],
])("refuses a text that %s", (_what, text, message) => {
  expect(() => read(text)).toThrow(message);
});

test("rewrites each receiver to ask for its targets, and leaves the rest", () => {
  const configuration = read(`
receivers:
  prometheus: {config: {global: {external_labels: {a: b}}, scrape_configs: [{job_name: a}]}}
  prometheus/x: {config: {scrape_config_files: [f]}, trim_metric_suffixes: true}
exporters: {debug: {verbosity: "\${env:LEVEL}"}}
`);
  const allocator = { endpoint: (receiver: string) => `https://ta/${receiver}`, refresh: 10_000, caFile: "/ca.crt" };
  const block = (receiver: string) => ({
    endpoint: `https://ta/${receiver}`,
    interval: "10s",
    collector_id: "${env:POD_NAME}",
    http_sd_config: { refresh_interval: "10s" },
    tls: { ca_file: "/ca.crt" },
  });
  expect(parse(rewritten(configuration, allocator))).toEqual({
    receivers: {
      prometheus: { config: { global: { external_labels: { a: "b" } } }, target_allocator: block("prometheus") },
      "prometheus/x": { config: {}, trim_metric_suffixes: true, target_allocator: block("prometheus/x") },
    },
    exporters: { debug: { verbosity: "${env:LEVEL}" } },
  });
});
