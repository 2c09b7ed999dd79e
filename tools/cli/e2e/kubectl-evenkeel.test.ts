import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { execFile } from "node:child_process";
import { waitUntil } from "@evenkeel/control-plane";
import {
  apply,
  chartAccount,
  get,
  kubectl,
  ServicePod,
  START_TIMEOUT_MS,
  TEST_TIMEOUT_MS,
  tokenOf,
  useCluster,
} from "@evenkeel/e2e";
import {
  ACCESS_KEY_AUTH,
  accessKeySecret,
  type Prometheus,
  type Route53,
  startPrometheus,
  startRoute53,
} from "@evenkeel/sim";
import { afterAll, beforeAll, expect, test } from "@jest/globals";

// In a network of its own kube-apiserver reaches the pod that the chart's Deployment makes: the service's process
// answers there, with the arguments and the token that the chart gives it. The tests go on from where the one before
// left off.

const root = join(import.meta.dirname, "../../..");
const NAMESPACE = "evenkeel-system";
const NAME = "weight-rebalancer";
const QUERY = "sum(requests)";
const PLACE = ["-n", NAMESPACE] as const;
const INSTALL = { chart: NAME, namespace: NAMESPACE, values: ["settings.route53BatchWindow=50ms"] };

let folder: string;
let route53: Route53;
let prometheus: Prometheus;
let service: ServicePod;
/** Kubeconfig of a user with the rights that docs/cli.md names, and no others. */
let officer: string;

afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await Promise.all([route53.stop(), prometheus.stop()]);
  rmSync(folder, { recursive: true });
}, TEST_TIMEOUT_MS);

const cluster = useCluster({ name: "cli", nodes: 1 });

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "cli-e2e-"));
  mkdirSync(join(folder, "bin"));
  copyFileSync(join(import.meta.dirname, "../dist/main.mjs"), join(folder, "bin/kubectl-evenkeel"));
  route53 = await startRoute53({ propagation: 200 });
  const site = (setIdentifier: string, weight: number, value: string) =>
    ({ name: "www.example.com", type: "A", setIdentifier, weight, ttl: 60, values: [value] }) as const;
  route53.addZone("Z1", "example.com", [site("base", 8, "192.0.2.1"), site("blue", 1, "192.0.2.2")]);
  prometheus = await startPrometheus();
  prometheus.answer(QUERY, () => ({ kind: "vector", samples: [{ metric: {}, value: 3000 }] }));
  await kubectl(cluster(), [
    "apply",
    "-f",
    join(root, "charts/weight-rebalancer/files/crds/rebalancer.ch1aki.github.io_rebalances.yaml"),
  ]);
  await waitUntil("the kind is served", async () => {
    const { code, stderr } = await cluster().kubectl(["get", "rebalances", "-A"]);
    return code === 0 ? undefined : stderr;
  });
  await kubectl(cluster(), ["create", "namespace", "shop"]);
  await apply(cluster(), accessKeySecret("shop"), rebalance(route53.url, prometheus.url));
  await chartAccount(cluster(), INSTALL);
  service = await startService();
  await service.process.phase("ready");
  officer = await cluster().kubeconfigFor({ user: "officer" });
  await grant("officer", "get,create");
  await kubectl(cluster(), ["create", "clusterrole", "cli-list", "--verb=list", "--resource=services"]);
  for (const role of ["cli-list", "system:auth-delegator"]) {
    const binding = [`officer:${role}`, `--clusterrole=${role}`, "--user=officer"];
    await kubectl(cluster(), ["create", "clusterrolebinding", ...binding]);
  }
}, START_TIMEOUT_MS);

function startService(): Promise<ServicePod> {
  return ServicePod.start({
    ...{ cluster: cluster(), namespace: NAMESPACE, name: NAME, folder },
    main: join(root, "apps/weight-rebalancer/dist/main.mjs"),
    flags: ["--listen-host=0.0.0.0", "--admin-port=8080"],
    env: {},
  });
}

/** Grants what docs/cli.md says that a user needs. */
async function grant(user: string, verbs: string, scheme = "http"): Promise<void> {
  const role = `cli-${user}-${scheme}`;
  const right = [`--verb=${verbs}`, "--resource=services/proxy", `--resource-name=${scheme}:${NAME}:8080`];
  await kubectl(cluster(), ["create", "role", role, ...PLACE, ...right]);
  await kubectl(cluster(), ["create", "rolebinding", role, ...PLACE, `--role=${role}`, `--user=${user}`]);
}

/** As a user types it: kubectl finds the program on its PATH. */
function evenkeel(args: readonly string[], kubeconfig = officer, more: Readonly<Record<string, string>> = {}) {
  const PATH = [join(folder, "bin"), dirname(process.execPath), process.env["PATH"]].join(delimiter);
  const env = { PATH, HOME: folder, KUBECONFIG: kubeconfig, KUBECACHEDIR: join(folder, "cache"), ...more };
  return new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
    execFile(join(cluster().bin, "kubectl"), ["evenkeel", ...args], { env }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });
}

test(
  "status finds the service by its Service, shows that it leads, and the Rebalance with its weight and reason",
  async () => {
    await waitUntil("the row", async () => {
      const { code, stdout, stderr } = await evenkeel(["status"]);
      const shown =
        /^weight-rebalancer +ready +0\.1\.0 +yes +\d+s/m.test(stdout) &&
        /^Rebalance\/shop\/checkout +weight-rebalancer +\w+ +\d+ +16 /m.test(stdout);
      return code === 0 && shown ? undefined : stdout + stderr;
    });
  },
  TEST_TIMEOUT_MS,
);

test(
  "explain, what-if, decisions, snapshot and replay work through the API server's proxy",
  async () => {
    const explained = await evenkeel(["explain", "rebalance", "shop/checkout"]);
    expect(explained).toMatchObject({ code: 0, stderr: "" });
    expect(explained.stdout).toMatch(/metric is 3000; the target is 1000/);

    const supposed = await evenkeel(["what-if", "rebalance", "shop/checkout", "--metric", "1500"]);
    expect(supposed).toMatchObject({ code: 0, stderr: "" });
    expect(supposed.stdout).toMatch(
      /^With metric 1500, the weight of Rebalance\/shop\/checkout would go from 16 to 4\.$/m,
    );

    const absent = await evenkeel(["what-if", "rebalance", "shop/absent", "--metric", "1500"]);
    expect(absent.code).toBe(1);
    expect(absent.stderr).toContain("EK_RPC_NOT_FOUND");

    const listed = await evenkeel(["decisions", "--object=rebalance/shop/checkout", "-o", "json"]);
    const { decisions } = JSON.parse(listed.stdout) as { decisions: { id: string }[] };
    const id = decisions[0]?.id ?? "";
    const file = join(folder, "recording.json");
    expect(await evenkeel(["snapshot", id, "-f", file])).toMatchObject({ code: 0, stderr: "" });
    const replayed = await evenkeel(["replay", file]);
    expect(replayed.stdout).toContain(`is the same as the recorded one (${id})`);
    expect(replayed.code).toBe(0);
  },
  TEST_TIMEOUT_MS,
);

test(
  "decisions are followed through the proxy until Ctrl-C",
  async () => {
    const { stdout, code, stderr } = await followed();
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain("Rebalance/shop/checkout");
  },
  TEST_TIMEOUT_MS,
);

/** Follows until the first row, and then sends what a terminal sends. */
function followed(): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const env = {
    PATH: [dirname(process.execPath), process.env["PATH"]].join(delimiter),
    HOME: folder,
    KUBECONFIG: officer,
  };
  return new Promise((resolve) => {
    const child = execFile(
      join(folder, "bin/kubectl-evenkeel"),
      ["decisions", "-f"],
      { env },
      (_error, stdout, stderr) => {
        resolve({ code: child.exitCode, stdout, stderr });
      },
    );
    child.stdout?.on("data", (text: string) => {
      if (text.includes("Rebalance/shop/checkout")) child.kill("SIGINT");
    });
  });
}

test(
  "a user without rights is told so, and doctor says which to ask for",
  async () => {
    const stowaway = await cluster().kubeconfigFor({ user: "stowaway" });
    const refused = await evenkeel(["status"], stowaway);
    expect(refused.code).toBe(1);
    expect(refused.stdout).toMatch(/^weight-rebalancer +down .*EK_KUBE_FORBIDDEN.*stowaway.*services\/proxy/m);

    const diagnosis = await evenkeel(["doctor"], stowaway);
    expect(diagnosis.code).toBe(1);
    expect(diagnosis.stdout).toMatch(/^ok {4}cluster +Kubernetes v1\.36\.3 answers$/m);
    expect(diagnosis.stdout).toMatch(/^ok {4}crds +rebalances\.rebalancer\.ch1aki\.github\.io serves v1$/m);
    expect(diagnosis.stdout).toMatch(
      /^fail {2}rights +you may not get services\/proxy of evenkeel-system\/weight-rebalancer\n +→ .*kubectl create role .*--resource-name=http:weight-rebalancer:8080/m,
    );
  },
  TEST_TIMEOUT_MS,
);

test(
  "the role that doctor names is enough to read, and what-if needs the other",
  async () => {
    const reader = await cluster().kubeconfigFor({ user: "reader" });
    await grant("reader", "get");
    await waitUntil("the right to read", async () => {
      const { code, stdout } = await evenkeel(["status", `--service=${NAME}`], reader);
      return code === 0 ? undefined : stdout;
    });
    const supposed = await evenkeel(["what-if", "rebalance/shop/checkout", "--metric=1"], reader);
    expect(supposed.code).toBe(1);
    expect(supposed.stderr).toContain("EK_KUBE_FORBIDDEN");
  },
  TEST_TIMEOUT_MS,
);

test(
  "doctor finds all in order under the chart's account, what that lacks, and all in order again after an upgrade",
  async () => {
    const inOrder = /^ok {4}rights +service account evenkeel-system\/weight-rebalancer has all \d+ rights/m;
    const whole = await evenkeel(["doctor"]);
    expect(whole.stdout).toMatch(inOrder);
    expect(whole).toMatchObject({ code: 0, stdout: expect.stringContaining(", 0 failed") });

    await kubectl(cluster(), ["delete", "clusterrolebinding", `${NAMESPACE}:${NAME}`]);
    await waitUntil("the lack", async () => {
      const { code, stdout } = await evenkeel(["doctor"]);
      const said = /^fail {2}rights +service account evenkeel-system\/weight-rebalancer may not get rebalances/m;
      return code === 1 && said.test(stdout) ? undefined : stdout;
    });
    await chartAccount(cluster(), INSTALL);
    await waitUntil("the rights", async () => {
      const { code, stdout } = await evenkeel(["doctor"]);
      return code === 0 && inOrder.test(stdout) ? undefined : stdout;
    });
  },
  TEST_TIMEOUT_MS,
);

test(
  "an admin port with TLS that needs a token answers to the proxy and to an address, and doctor names the second way",
  async () => {
    const values = [...INSTALL.values, "tls.admin=true", "readAccess=token"];
    await chartAccount(cluster(), { ...INSTALL, values });
    await service.gone();
    service = await startService();
    await service.process.phase("ready");

    await grant("officer", "get,create", "https");
    await waitUntil("the refusal of the service itself", async () => {
      const { stdout } = await evenkeel(["doctor"]);
      const said =
        /^fail {2}services .*weight-rebalancer.*EK_CLI_REFUSED.*EK_RPC_UNAUTHENTICATED.*\n +→ .*--token-file/m;
      return said.test(stdout) ? undefined : stdout;
    });

    await kubectl(cluster(), ["create", "serviceaccount", "reader", "-n", "shop"]);
    const binding = ["create", "clusterrolebinding", "reader", "--clusterrole=view", "--serviceaccount=shop:reader"];
    await kubectl(cluster(), binding);
    const [token, ca] = [join(folder, "reader-token"), join(folder, "ca.crt")];
    writeFileSync(token, await tokenOf(cluster(), "shop", "reader"));
    const secret = await get<{ data: Readonly<Record<string, string>> }>(cluster(), "secret", `${NAME}-tls`, ...PLACE);
    writeFileSync(ca, Buffer.from(secret.data["ca.crt"] ?? "", "base64"));
    const direct = ["status", "--address=https://localhost:8080"];
    const env = { NODE_EXTRA_CA_CERTS: ca };
    expect((await evenkeel(direct, officer, env)).stdout).toMatch(/EK_RPC_UNAUTHENTICATED/);
    await waitUntil("the answer to the token", async () => {
      const { code, stdout } = await evenkeel([...direct, `--token-file=${token}`], officer, env);
      return code === 0 && stdout.includes("Rebalance/shop/checkout") ? undefined : stdout;
    });
  },
  TEST_TIMEOUT_MS,
);

test(
  "a service that is gone is a row that says so, and exit code 1",
  async () => {
    await service[Symbol.asyncDispose]();
    const { code, stdout } = await evenkeel(["status"]);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^weight-rebalancer +down .*EK_CLI_UNANSWERED: evenkeel-system\/weight-rebalancer /m);
  },
  TEST_TIMEOUT_MS,
);

function rebalance(endpoint: string, metrics: string): object {
  const resource = { name: "www.example.com", type: "A", identifier: "blue" };
  return {
    apiVersion: "rebalancer.ch1aki.github.io/v1",
    kind: "Rebalance",
    metadata: { namespace: "shop", name: "checkout" },
    spec: {
      interval: "5s",
      policy: { targettracking: { targetValue: 1000, baseValue: 8 } },
      target: { route53: { hostedZoneID: "Z1", region: "us-east-1", endpoint, auth: ACCESS_KEY_AUTH, resource } },
      metrics: { prometheus: { address: metrics, query: QUERY } },
    },
  };
}
