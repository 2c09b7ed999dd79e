import { readFileSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "@evenkeel/runtime/testing";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { admin, ApiServerWithProxy, type Backends, guest } from "./api-server.ts";
import { Ballast } from "./ballast.ts";
import { evenkeel } from "./evenkeel.ts";
import { EvenkeelProcess } from "./evenkeel-process.ts";

const rebalances = join(
  import.meta.dirname,
  "../../../charts/weight-rebalancer/files/crds/rebalancer.ch1aki.github.io_rebalances.yaml",
);
const rbac = "rbac.authorization.k8s.io";

let ballast: Ballast;
let address: string;

beforeAll(async () => {
  ballast = await Ballast.start();
  address = await ballast.address();
});

afterAll(async () => {
  await ballast[Symbol.asyncDispose]();
});

const place = "harbour/ballast:8080";
const startServer = (backends: Backends = new Map([[place, address]])) => ApiServerWithProxy.start(backends);

async function asked(server: ApiServerWithProxy, args: readonly string[], user = admin) {
  const env = { KUBECONFIG: await server.kubeconfig(user) };
  return evenkeel(args, { ballast: true, env });
}

describe("through the API server", () => {
  test("a service is found by its Service and asked with the user's credentials; one that is not installed is no fault", async () => {
    await using server = await startServer();
    const { code, stdout } = await asked(server, ["status"]);
    expect(stdout).toMatch(/^ballast +ready +0\.1\.0/m);
    expect(stdout).toMatch(/^weight-rebalancer +not installed .*EK_CLI_NOT_INSTALLED/m);
    expect(stdout).toMatch(/^Tank\/main +ballast +WithinTolerance/m);
    expect(code).toBe(0);
    expect(server.forwarded).toContain("Bearer admin-token GET /api/v1/Runtime/Status");
  });

  test("a service that is asked for by name must be there", async () => {
    await using server = await startServer();
    const { code, stdout } = await asked(server, ["status", "--service", "weight-rebalancer"]);
    expect(stdout).toMatch(/^weight-rebalancer +down/m);
    expect(stdout).not.toContain("ballast");
    expect(code).toBe(1);
  });

  test("a service in another namespace is found there", async () => {
    await using server = await startServer(new Map([["elsewhere/ballast:8080", address]]));
    expect(await asked(server, ["status", "--service=ballast"])).toMatchObject({ code: 1 });
    expect(await asked(server, ["status", "--service=ballast", "--service-namespace=elsewhere"])).toMatchObject({
      code: 0,
    });
  });

  test("a service is found in whatever namespace a chart put it, by the chart's label", async () => {
    await using server = await startServer(new Map([["anywhere/ballast:8080", address]]));
    expect(await asked(server, ["status", "--service=ballast"])).toMatchObject({ code: 1 });
    const metadata = { name: "ballast", namespace: "anywhere", labels: { "app.kubernetes.io/part-of": "evenkeel" } };
    server.api.load(JSON.stringify({ apiVersion: "v1", kind: "Namespace", metadata: { name: "anywhere" } }));
    server.api.load(JSON.stringify({ apiVersion: "v1", kind: "Service", metadata, spec: { ports: [{ port: 8080 }] } }));
    const { code, stdout } = await asked(server, ["status", "--service=ballast", "-o", "json"]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ services: [{ service: "ballast", place: "anywhere/ballast" }] });
    // Whoever may not look for Services finds it by naming the namespace.
    expect(await asked(server, ["status", "--service=ballast"], guest)).toMatchObject({ code: 1 });
    expect(await asked(server, ["status", "--service=ballast", "--service-namespace=anywhere"], guest)).toMatchObject({
      code: 0,
    });
  });

  test("a service whose Service says HTTPS is asked over HTTPS", async () => {
    await using server = await startServer(new Map([["https:anywhere/ballast:8080", address]]));
    const metadata = { name: "ballast", namespace: "anywhere", labels: { "app.kubernetes.io/part-of": "evenkeel" } };
    const spec = { ports: [{ port: 8080, appProtocol: "https" }] };
    server.api.load(JSON.stringify({ apiVersion: "v1", kind: "Namespace", metadata: { name: "anywhere" } }));
    server.api.load(JSON.stringify({ apiVersion: "v1", kind: "Service", metadata, spec }));
    expect(await asked(server, ["status", "--service=ballast"])).toMatchObject({ code: 0 });
  });

  test("a refusal of the service is told in its own words", async () => {
    await using server = await startServer();
    const { code, stderr } = await asked(server, ["explain", "tank/aft"]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^kubectl evenkeel: EK_CLI_NOTHING_KNOWN: .*Tank\/aft.*ballast.*\n$/);
  });

  test("a Service without anybody behind it is down", async () => {
    await using server = await startServer(new Map([[place, "http://127.0.0.1:1"]]));
    const { code, stdout } = await asked(server, ["status"]);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^ballast +down .*EK_CLI_UNANSWERED: harbour\/ballast .*ECONNREFUSED/m);
  });

  test("decisions are followed, and a snapshot is the same file", async () => {
    await using server = await startServer();
    const env = { KUBECONFIG: await server.kubeconfig(admin) };
    const args = ["decisions", "-f", "-o", "json"];
    await using following = new EvenkeelProcess(args, { main: "test/main-with-ballast.ts", env });
    await following.until(({ stdout }) => stdout.includes("WithinTolerance"));
    await ballast.setLevel(90);
    await following.until(({ stdout }) => stdout.includes('"before":90'));
    following.signal("SIGINT");
    expect(await following.ended).toMatchObject({ code: 0, stderr: "" });

    const line = following.stdout.split("\n").find((text) => text.includes('"before":90')) ?? "{}";
    const { id } = JSON.parse(line) as { id: string };
    const { stdout } = await asked(server, ["snapshot", id, "-f", "-"]);
    expect(stdout).toBe(await (await fetch(`${address}/api/v1/Decisions/Snapshot?id=${id}`)).text());
  });

  test("an API server that is away is one clear line for each service", async () => {
    const server = await startServer();
    const env = { KUBECONFIG: await server.kubeconfig(admin) };
    await server.api.stop();
    const { code, stdout } = await evenkeel(["status", "--deadline=2s"], { env });
    expect(code).toBe(1);
    expect(stdout).toMatch(/^weight-rebalancer +down .*EK_KUBE_UNREACHABLE/m);
    const diagnosis = await evenkeel(["doctor", "--deadline=2s"], { env });
    expect(diagnosis.code).toBe(1);
    expect(diagnosis.stdout).toMatch(/^fail {2}cluster .*EK_KUBE_UNREACHABLE/m);
  });
});

describe("doctor", () => {
  test("finds all well where it is, and says what is not there", async () => {
    await using server = await startServer();
    server.api.load(JSON.stringify(tanks));
    for (const object of accountRights(["get", "update"])) server.api.load(JSON.stringify(object));
    const { code, stdout } = await asked(server, ["doctor"]);
    expect(stdout).toMatch(/^ok {4}cluster +Kubernetes v1\.\d+\.\d+.* answers$/m);
    expect(stdout).toMatch(/^ok {4}crds +tanks\.harbour\.test serves v1 and is established$/m);
    expect(stdout).toMatch(/^ok {4}rights +you may get services\/proxy of harbour\/ballast$/m);
    expect(stdout).toMatch(/^ok {4}rights +service account harbour\/ballast has all 3 rights/m);
    expect(stdout).toMatch(/^warn {2}services +weight-rebalancer is not installed/m);
    expect(stdout).toMatch(/^ok {4}services +ballast 0\.1\.0 answers at harbour\/ballast/m);
    expect(stdout).toMatch(/, 0 failed$/m);
    expect(code).toBe(0);
  });

  test("says what to install where a definition is missing, and what a service account lacks", async () => {
    await using server = await startServer();
    for (const object of accountRights(["get"])) server.api.load(JSON.stringify(object));
    const { code, stdout } = await asked(server, ["doctor"]);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^fail {2}crds +tanks\.harbour\.test .*\n +→ .*crds\.enabled=true/m);
    expect(stdout).toMatch(
      /^fail {2}rights +service account harbour\/ballast may not update leases\.coordination\.k8s\.io\n +→ .*helm upgrade/m,
    );
  });

  test("says that a definition serves another version", async () => {
    await using server = await startServer();
    const [version] = tanks.spec.versions;
    server.api.load(JSON.stringify({ ...tanks, spec: { ...tanks.spec, versions: [{ ...version, name: "v2" }] } }));
    const { stdout } = await asked(server, ["doctor"]);
    expect(stdout).toMatch(/^fail {2}crds +tanks\.harbour\.test .*v2.*v1$/m);
  });

  test("tells a user without rights which they lack, and takes what anyone can see", async () => {
    await using server = await startServer();
    const { code, stdout } = await asked(server, ["doctor", "-o", "json"], guest);
    expect(code).toBe(1);
    const { findings } = JSON.parse(stdout) as {
      findings: { area: string; verdict: string; message: string; fix?: string }[];
    };
    const rights = findings.filter(({ area }) => area === "rights");
    const lacks = (verb: string) => ({
      message: expect.stringMatching(`\\b${verb} services/proxy .*harbour/ballast`),
      fix: expect.stringMatching(`kubectl create role .* --verb=${verb} `),
    });
    expect(rights).toMatchObject([
      { verdict: "fail", ...lacks("get") },
      { verdict: "warn", ...lacks("create") },
      { verdict: "warn", message: expect.stringContaining("EK_KUBE_FORBIDDEN") },
    ]);
  });

  test("lists who may connect to the admin port, and names the values that add more", async () => {
    await using server = await startServer();
    const network = async () => {
      const { stdout } = await asked(server, ["doctor", "--service=ballast", "-o", "json"]);
      const { findings } = JSON.parse(stdout) as { findings: readonly { area: string }[] };
      return findings.filter(({ area }) => area === "network");
    };
    const open = { verdict: "warn", fix: expect.stringContaining("networkPolicy.enabled") };
    expect(await network()).toMatchObject([open]);

    server.api.load(JSON.stringify({ apiVersion: "v1", kind: "Namespace", metadata: { name: "harbour" } }));
    server.api.load(JSON.stringify(networkPolicies));
    const load = (ingress: readonly object[]) => {
      const metadata = { name: "ballast", namespace: "harbour" };
      const policy = { apiVersion: "networking.k8s.io/v1", kind: "NetworkPolicy", metadata, spec: { ingress } };
      server.api.load(JSON.stringify(policy));
    };
    const names = { key: "kubernetes.io/metadata.name", operator: "In", values: ["monitoring", "ingress"] };
    const from = [
      { podSelector: {} },
      { namespaceSelector: { matchExpressions: [names] } },
      { ipBlock: { cidr: "10.0.0.1/32" } },
    ];
    await eventually(() => load([{ ports: [{ port: "admin" }], from }]));
    const limited = /harbour, monitoring, ingress, 10\.0\.0\.1\/32.*adminNamespaces.*adminCidrs/;
    expect(await network()).toMatchObject([{ verdict: "ok", message: expect.stringMatching(limited) }]);
  });

  test("knows the project's own definition by name", async () => {
    await using server = await startServer(new Map([["evenkeel-system/weight-rebalancer:8080", address]]));
    server.api.load(readFileSync(rebalances, "utf8"));
    const { stdout } = await asked(server, ["doctor"]);
    expect(stdout).toMatch(/^ok {4}crds +rebalances\.rebalancer\.ch1aki\.github\.io serves v1 and is established$/m);
    // The Service leads to somebody else, which is found as well.
    expect(stdout).toMatch(/^fail {2}services +weight-rebalancer does not answer: EK_CLI_BAD_ANSWER: .*ballast/m);
  });
});

const tanks = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "tanks.harbour.test" },
  spec: {
    ...{ group: "harbour.test", scope: "Cluster", names: { kind: "Tank", plural: "tanks" } },
    versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
  },
};

/** The embedded API server does not have the type of its own. */
const networkPolicies = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "networkpolicies.networking.k8s.io" },
  spec: {
    ...{ group: "networking.k8s.io", scope: "Namespaced" },
    names: { kind: "NetworkPolicy", plural: "networkpolicies" },
    versions: [
      {
        ...{ name: "v1", served: true, storage: true },
        schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
      },
    ],
  },
};

/** What the fixture's account is granted; `verbs` are those on its lease. */
function accountRights(verbs: readonly string[]): readonly object[] {
  const subjects = [{ kind: "ServiceAccount", name: "ballast", namespace: "harbour" }];
  const metadata = { name: "ballast" };
  const bind = (kind: string) => ({ subjects, roleRef: { apiGroup: rbac, kind, name: "ballast" } });
  const within = { ...metadata, namespace: "harbour" };
  return [
    { apiVersion: "v1", kind: "Namespace", metadata: { name: "harbour" } },
    {
      ...{ apiVersion: `${rbac}/v1`, kind: "Role", metadata: within },
      rules: [{ apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs }],
    },
    { apiVersion: `${rbac}/v1`, kind: "RoleBinding", metadata: within, ...bind("Role") },
    {
      ...{ apiVersion: `${rbac}/v1`, kind: "ClusterRole", metadata },
      rules: [{ apiGroups: ["events.k8s.io"], resources: ["events"], verbs: ["create"] }],
    },
    { apiVersion: `${rbac}/v1`, kind: "ClusterRoleBinding", metadata, ...bind("ClusterRole") },
  ];
}
