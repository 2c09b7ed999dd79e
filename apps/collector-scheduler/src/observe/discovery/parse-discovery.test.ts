import { describe, expect, test } from "@jest/globals";
import { parseDiscovery } from "./parse-discovery.ts";

const limits = { namespace: "shop", scope: "all", files: "/etc/discovery" } as const;
const kubernetes = (config: object, scope: "own" | "all" = "all") =>
  parseDiscovery({ kubernetes_sd_configs: [config] }, { ...limits, scope });

const off = { node: false, namespace: false, deployment: false, job: false, cronjob: false };

describe("the discovery of a job", () => {
  test("is its static configs and every block of another mechanism", () => {
    const config = {
      job_name: "app",
      static_configs: [{ targets: ["a:80"], labels: { team: "shop" } }, { targets: null }],
      kubernetes_sd_configs: [{ role: "pod" }, { role: "service", follow_redirects: true }],
    };
    expect(parseDiscovery(config, limits)).toEqual({
      blocks: [
        {
          mechanism: "static",
          groups: [
            { targets: ["a:80"], labels: { team: "shop" } },
            { targets: [], labels: {} },
          ],
        },
        { mechanism: "kubernetes", role: "pod", namespaces: [], selectors: {}, attach: off },
        { mechanism: "kubernetes", role: "service", namespaces: [], selectors: {}, attach: off },
      ],
    });
  });

  test("of Kubernetes has selectors, attached metadata, and namespaces with the own one resolved", () => {
    const config = {
      role: "endpointslice",
      namespaces: { own_namespace: true, names: ["web", "billing"] },
      selectors: [
        { role: "pod", label: "app in (a, b),tier!=db" },
        { role: "endpointslice", label: "x", field: "metadata.name=web" },
      ],
      attach_metadata: { node: true, cronjob: true },
    };
    expect(kubernetes(config)).toEqual({
      blocks: [
        {
          mechanism: "kubernetes",
          role: "endpointslice",
          namespaces: ["billing", "shop", "web"],
          selectors: {
            pod: { label: "app in (a, b),tier!=db" },
            endpointslice: { label: "x", field: "metadata.name=web" },
          },
          attach: { ...off, node: true, cronjob: true },
        },
      ],
    });
  });

  test("of files, HTTP and DNS has Prometheus's defaults", () => {
    const config = {
      file_sd_configs: [{ files: ["a/*.json", "/etc/discovery/b.yml"] }],
      http_sd_configs: [{ url: "https://a.example.com/targets" }],
      dns_sd_configs: [{ names: ["_web._tcp.example.com"] }],
    };
    expect(parseDiscovery(config, limits)).toEqual({
      blocks: [
        {
          mechanism: "file",
          files: ["/etc/discovery/a/*.json", "/etc/discovery/b.yml"],
          refreshInterval: 300_000,
        },
        {
          mechanism: "http",
          url: "https://a.example.com/targets",
          refreshInterval: 60_000,
          headers: [],
          tls: { insecureSkipVerify: false },
        },
        { mechanism: "dns", names: ["_web._tcp.example.com"], type: "SRV", port: 0, refreshInterval: 30_000 },
      ],
    });
  });

  test("in scope own stays in the namespace of the CollectorLoadBalancer", () => {
    expect(kubernetes({ role: "pod" }, "own").blocks).toMatchObject([{ namespaces: ["shop"] }]);
    expect(kubernetes({ role: "pod", namespaces: { names: ["shop"] } }, "own").blocks).toMatchObject([
      { namespaces: ["shop"] },
    ]);
  });
});

describe("a fault", () => {
  test.each([
    [{ consul_sd_configs: [{ server: "a" }] }, ["consul_sd_configs"]],
    [{ static_configs: [{ targets: ["http://a/metrics"] }] }, ["static_configs[0].targets[0]"]],
    [{ static_configs: [{ target: ["a"] }] }, ["static_configs[0].target"]],
    [{ static_configs: "a:80" }, ["static_configs"]],
    [{ kubernetes_sd_configs: [{}] }, ["kubernetes_sd_configs[0].role"]],
    [{ kubernetes_sd_configs: [{ role: "gateway" }] }, ["kubernetes_sd_configs[0].role"]],
    [
      { kubernetes_sd_configs: [{ role: "pod", kubeconfig_file: "/a", api_server: "http://b" }] },
      ["kubernetes_sd_configs[0].kubeconfig_file", "kubernetes_sd_configs[0].api_server"],
    ],
    [
      { kubernetes_sd_configs: [{ role: "pod" }, { role: "pod", bearer_token_file: "/a" }] },
      ["kubernetes_sd_configs[1].bearer_token_file"],
    ],
    [
      { kubernetes_sd_configs: [{ role: "service", selectors: [{ role: "pod", label: "a" }] }] },
      ["kubernetes_sd_configs[0].selectors[0].role"],
    ],
    [
      { kubernetes_sd_configs: [{ role: "pod", selectors: [{ role: "pod" }, { role: "pod" }] }] },
      ["kubernetes_sd_configs[0].selectors[1].role"],
    ],
    [
      { kubernetes_sd_configs: [{ role: "pod", selectors: [{ role: "pod", label: "a=b c" }] }] },
      ["kubernetes_sd_configs[0].selectors[0].label"],
    ],
    [
      // An expression that matches the whole list takes hours for this.
      {
        kubernetes_sd_configs: [{ role: "pod", selectors: [{ role: "pod", label: `a in (${"  ,".repeat(500)}  !)` }] }],
      },
      ["kubernetes_sd_configs[0].selectors[0].label"],
    ],
    [
      { kubernetes_sd_configs: [{ role: "pod", selectors: [{ role: "pod", field: "spec.nodeName" }] }] },
      ["kubernetes_sd_configs[0].selectors[0].field"],
    ],
    [{ file_sd_configs: [{ files: [] }] }, ["file_sd_configs[0].files"]],
    [{ file_sd_configs: [{ files: ["/etc/discovery/*/a.json"] }] }, ["file_sd_configs[0].files[0]"]],
    [{ file_sd_configs: [{ files: ["a.json", "a.txt"] }] }, ["file_sd_configs[0].files[1]"]],
    [{ file_sd_configs: [{ files: ["/var/run/secrets/a.json"] }] }, ["file_sd_configs[0].files[0]"]],
    [{ file_sd_configs: [{ files: ["../a.json"] }] }, ["file_sd_configs[0].files[0]"]],
    [{ file_sd_configs: [{ files: ["/etc/discovery-2/a.json"] }] }, ["file_sd_configs[0].files[0]"]],
    [{ file_sd_configs: [{ files: ["a.json"], refresh_interval: "0s" }] }, ["file_sd_configs[0].refresh_interval"]],
    [{ dns_sd_configs: [{ names: ["a"], type: "A" }] }, ["dns_sd_configs[0].port"]],
    [{ dns_sd_configs: [{ names: ["a"], type: "TXT" }] }, ["dns_sd_configs[0].type"]],
    [{ dns_sd_configs: [{ names: [] }] }, ["dns_sd_configs[0].names"]],
    [{ http_sd_configs: [{}] }, ["http_sd_configs[0].url"]],
    [{ http_sd_configs: [{ url: "file:///etc/passwd" }] }, ["http_sd_configs[0].url"]],
    [{ http_sd_configs: [{ url: "http://:password@a" }] }, ["http_sd_configs[0].url"]],
    [{ http_sd_configs: [{ url: "http://a", oauth2: {} }] }, ["http_sd_configs[0].oauth2"]],
    [{ http_sd_configs: [{ url: "http://a", proxy_url: "http://b" }] }, ["http_sd_configs[0].proxy_url"]],
    [
      { http_sd_configs: [{ url: "http://a", bearer_token_file: "/var/run/secrets/token" }] },
      ["http_sd_configs[0].bearer_token_file"],
    ],
    [
      { http_sd_configs: [{ url: "http://a", authorization: { credentials_file: "/etc/passwd" } }] },
      ["http_sd_configs[0].authorization.credentials_file"],
    ],
    [
      { http_sd_configs: [{ url: "http://a", basic_auth: { password: "a", password_file: "b" } }] },
      ["http_sd_configs[0].basic_auth"],
    ],
    [
      { http_sd_configs: [{ url: "http://a", bearer_token: "a", basic_auth: { username: "b" } }] },
      ["http_sd_configs[0].authorization"],
    ],
  ])("of %j names its field", (config, fields) => {
    expect(parseDiscovery(config, limits).faults?.map(({ field }) => field)).toEqual(fields);
  });

  test.each<[what: string, config: Record<string, unknown>, field: string]>([
    [
      "label selector",
      { kubernetes_sd_configs: [{ role: "pod", selectors: [{ role: "pod", label: "a,".repeat(2048) + "a" }] }] },
      "kubernetes_sd_configs[0].selectors[0].label",
    ],
    [
      "field selector",
      { kubernetes_sd_configs: [{ role: "pod", selectors: [{ role: "pod", field: `a=${"b".repeat(4096)}` }] }] },
      "kubernetes_sd_configs[0].selectors[0].field",
    ],
    [
      "set of labels",
      { static_configs: [{ targets: ["a"], labels: { a: "x".repeat(65_536) } }] },
      "static_configs[0].labels",
    ],
  ])("of a %s that is too long names its field", (_what, config, field) => {
    expect(parseDiscovery(config, limits).faults).toMatchObject([{ field }]);
  });

  test.each([
    [{ role: "node" }, "role"],
    [{ role: "pod", namespaces: { names: ["shop", "billing"] } }, "namespaces.names[1]"],
    [{ role: "pod", attach_metadata: { node: true } }, "attach_metadata.node"],
    [{ role: "pod", attach_metadata: { namespace: true } }, "attach_metadata.namespace"],
  ])("is %j in scope own", (config, field) => {
    expect(kubernetes(config, "own").faults).toMatchObject([{ field: `kubernetes_sd_configs[0].${field}` }]);
  });
});

test("Kubernetes discovery looks in the watched namespaces alone, and names one that is not watched", () => {
  const watching = (config: object) =>
    parseDiscovery({ kubernetes_sd_configs: [{ role: "pod", ...config }] }, { ...limits, watched: ["shop", "bank"] });
  expect(watching({})).toMatchObject({ blocks: [{ namespaces: ["bank", "shop"] }] });
  expect(watching({ namespaces: { names: ["bank"] } })).toMatchObject({ blocks: [{ namespaces: ["bank"] }] });
  expect(watching({ namespaces: { names: ["bank", "zoo"] } }).faults?.map(({ field }) => field)).toEqual([
    "kubernetes_sd_configs[0].namespaces.names[1]",
  ]);
});
