import { cpSync } from "node:fs";
import { join } from "node:path";
import { kinds } from "@evenkeel/api";
import { START_TIMEOUT_MS } from "@evenkeel/e2e";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { charts, serviceCharts } from "../src/index.ts";
import { Release, type Rendered } from "../src/release.ts";

const SERVICES = serviceCharts(charts);
/** A chart with what no service of the project uses yet. */
const FIXTURE = "harbour-master";

let release: Release;

beforeAll(async () => {
  release = await Release.prepare();
  cpSync(join(import.meta.dirname, "fixtures", FIXTURE), release.chart(FIXTURE), { recursive: true });
  await release.helm("dependency", "update", "--skip-refresh", release.chart(FIXTURE));
}, START_TIMEOUT_MS);

afterAll(() => release[Symbol.dispose]());

const ofKind = (objects: readonly Rendered[], kind: string) => objects.filter((object) => object.kind === kind);

/** The one object of a kind, and of a name where there are several. */
function one(objects: readonly Rendered[], kind: string, name?: string): Rendered {
  const [found, ...more] = ofKind(objects, kind).filter(({ metadata }) => name === undefined || metadata.name === name);
  if (found === undefined || more.length > 0) throw new Error(`${more.length + (found ? 1 : 0)} ${kind} ${name ?? ""}`);
  return found;
}

const only = (service: string) => SERVICES.map((other) => `${other}.enabled=${String(other === service)}`);

describe("the umbrella chart", () => {
  test.each(SERVICES)("with only %s enabled installs the CRDs of its kinds alone, which stay", async (service) => {
    const crds = ofKind(await release.render("evenkeel", ...only(service)), "CustomResourceDefinition");
    const own = kinds.filter((kind) => kind.service === service).map(({ plural, group }) => `${plural}.${group}`);
    expect(crds.map(({ metadata }) => metadata.name).sort()).toEqual(own.sort());
    for (const { metadata } of crds) expect(metadata.annotations).toEqual({ "helm.sh/resource-policy": "keep" });
  });

  test("refuses the value that switched all CRDs off, and names those that do", async () => {
    const { code, stderr } = await release.tryHelm(
      "template",
      release.chart("evenkeel"),
      "--set",
      "crds.enabled=false,scale-resolver.enabled=true",
    );
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining("weight-rebalancer.crds.enabled") });
  });

  test("installs nothing that was not asked for, and says how to ask", async () => {
    const { code, stderr } = await release.tryHelm("template", release.chart("evenkeel"));
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining("scale-resolver.enabled=true") });
  });

  test("gives its list of who may connect to the admin port to every service", async () => {
    const objects = await release.render(
      "evenkeel",
      "global.networkPolicy.adminNamespaces={monitoring}",
      ...SERVICES.map((service) => `${service}.enabled=true`),
    );
    for (const service of SERVICES) {
      expect(JSON.stringify(one(objects, "NetworkPolicy", service))).toContain('"values":["monitoring"]');
    }
  });
});

describe.each(SERVICES)("the chart of %s", (service) => {
  test("without crds.enabled has no CRD", async () => {
    const objects = await release.render(service, "crds.enabled=false");
    expect(ofKind(objects, "CustomResourceDefinition")).toEqual([]);
  });

  test("has roles for users of its kinds, which are added to view, edit and admin", async () => {
    const objects = await release.render(service);
    const role = (what: string) => {
      const { metadata, rules } = one(objects, "ClusterRole", `evenkeel-system:${service}-${what}`);
      const labels = Object.keys(metadata.labels ?? {}).filter((label) => label.startsWith("rbac.authorization"));
      return { rules, to: labels.map((label) => label.replace("rbac.authorization.k8s.io/aggregate-to-", "")).sort() };
    };
    const resources = kinds
      .filter((kind) => kind.service === service)
      .map(({ group, plural }) => ({ apiGroups: [group], resources: [plural] }))
      .sort((one, other) => (String(one.resources) < String(other.resources) ? -1 : 1));
    expect(role("view")).toEqual({
      to: ["admin", "edit", "view"],
      rules: resources.map((resource) => ({ ...resource, verbs: ["get", "list", "watch"] })),
    });
    expect(role("edit")).toEqual({
      to: ["admin", "edit"],
      rules: resources.map((resource) => ({
        ...resource,
        verbs: ["create", "update", "patch", "delete", "deletecollection"],
      })),
    });
  });

  test.each(["rbac.userRoles=false", "rbac.create=false"])("with %s has no roles for users", async (value) => {
    const names = ofKind(await release.render(service, value), "ClusterRole").map(({ metadata }) => metadata.name);
    expect(names.filter((name) => /-(view|edit)$/.test(name))).toEqual([]);
  });
});

describe("the notes after an install", () => {
  const notes = async (chart: string, ...values: readonly string[]) => {
    const set = values.flatMap((value) => ["--set", value]);
    const about = ["evenkeel", release.chart(chart), "-n", "evenkeel-system", "--dry-run=client", ...set];
    return (await release.helm("install", ...about)).split("\nNOTES:\n")[1] ?? "";
  };

  test.each(SERVICES)(
    "of %s alone name who may reach its admin port, and the values that allow others",
    async (service) => {
      const text = await notes(service);
      expect(text).toContain(`service/${service} 8080:admin    # then http://localhost:8080/dashboard/`);
      expect(text).toContain(`\n  ${service}: evenkeel-system\n`);
      expect(text).toContain("these values in networkPolicy:");
      expect(text).toMatch(/Prometheus or an ingress controller .* adminNamespaces=/);
      expect(text).toMatch(/API server .* adminCidrs=/);
    },
  );

  test("of the umbrella chart name every service once, with who may reach it by the values of all and of one", async () => {
    const text = await notes(
      "evenkeel",
      ...SERVICES.map((service) => `${service}.enabled=true`),
      "global.networkPolicy.adminNamespaces={monitoring}",
      "scale-resolver.networkPolicy.adminCidrs={10.0.0.1/32}",
      "eviction-planner.networkPolicy.enabled=false",
      "eviction-planner.fullnameOverride=rebalancer",
      "endpoint-proxy.networkPolicy.from[0].namespaceSelector.matchLabels.team=shop",
      "weight-rebalancer.tls.admin=true",
    );
    expect(text.match(/installed in evenkeel-system/g)).toHaveLength(1);
    expect(text.match(/^ {2}[\w-]+: .+$/gm)).toEqual([
      "  collector-scheduler: evenkeel-system, monitoring",
      "  endpoint-proxy: evenkeel-system, monitoring, networkPolicy.from",
      "  eviction-planner: everyone",
      "  scale-resolver: evenkeel-system, monitoring, 10.0.0.1/32",
      "  weight-rebalancer: evenkeel-system, monitoring",
    ]);
    expect(text).toContain("service/weight-rebalancer 8080:admin    # then https://");
    expect(text).toContain("service/rebalancer 8080:admin    # then http://");
    expect(text).toContain("global.networkPolicy, or in <service>.networkPolicy for one service:");
  });
});

interface Ingress {
  readonly ports: readonly { readonly port: string | number }[];
  readonly from?: readonly object[];
}

describe("the NetworkPolicy", () => {
  const rules = async (...values: readonly string[]) => {
    const { spec } = one(await release.render("weight-rebalancer", ...values), "NetworkPolicy");
    const { ingress } = spec as { ingress: readonly Ingress[] };
    return Object.fromEntries(ingress.map(({ ports: [port], from }) => [port?.port ?? "", from ?? "everyone"]));
  };

  test("opens the admin port to the release's namespace, and the other ports to everyone", async () => {
    expect(await rules()).toEqual({ admin: [{ podSelector: {} }], grpc: "everyone", health: "everyone" });
  });

  test("opens the admin port to the namespaces and addresses that values name", async () => {
    const names = { key: "kubernetes.io/metadata.name", operator: "In", values: ["monitoring", "ingress-nginx"] };
    expect(
      await rules(
        "networkPolicy.adminNamespaces={monitoring}",
        "global.networkPolicy.adminNamespaces={monitoring,ingress-nginx}",
        "networkPolicy.adminCidrs={10.0.0.1/32}",
      ),
    ).toMatchObject({
      admin: [
        { podSelector: {} },
        { namespaceSelector: { matchExpressions: [names] } },
        { ipBlock: { cidr: "10.0.0.1/32" } },
      ],
      grpc: "everyone",
    });
  });

  test("limits gRPC to networkPolicy.from, whose peers may use the admin port too", async () => {
    const peer = { namespaceSelector: { matchLabels: { team: "shop" } } };
    expect(await rules("networkPolicy.from[0].namespaceSelector.matchLabels.team=shop")).toEqual({
      ...{ admin: [{ podSelector: {} }, peer], grpc: [peer], health: "everyone" },
    });
  });

  test("limits outgoing connections to DNS and networkPolicy.egress, and only if it is set", async () => {
    const policy = async (...values: readonly string[]) => {
      const { spec } = one(await release.render("weight-rebalancer", ...values), "NetworkPolicy");
      return spec;
    };
    expect(await policy()).toMatchObject({ policyTypes: ["Ingress"] });
    expect(await policy()).not.toHaveProperty("egress");
    const dns = ["UDP", "TCP"].map((protocol) => ({ port: 53, protocol }));
    expect(await policy("networkPolicy.egress[0].to[0].ipBlock.cidr=192.0.2.0/24")).toMatchObject({
      policyTypes: ["Ingress", "Egress"],
      egress: [{ ports: dns }, { to: [{ ipBlock: { cidr: "192.0.2.0/24" } }] }],
    });
  });

  test("can be left out", async () => {
    expect(ofKind(await release.render("weight-rebalancer", "networkPolicy.enabled=false"), "NetworkPolicy")).toEqual(
      [],
    );
  });
});

interface Pod {
  readonly containers: readonly {
    readonly args: readonly string[];
    readonly env: readonly object[];
    readonly ports: readonly object[];
    readonly volumeMounts: readonly object[];
  }[];
  readonly volumes: readonly { readonly name: string }[];
}

interface Workload {
  readonly strategy: { readonly type: string };
  readonly template: { readonly spec: Pod };
}

const workloadOf = (objects: readonly Rendered[]) => one(objects, "Deployment")["spec"] as Workload;

describe("the admin port", () => {
  const CHART = "weight-rebalancer";
  const argumentsOf = (objects: readonly Rendered[]) => workloadOf(objects).template.spec.containers[0]?.args ?? [];

  test("speaks plain HTTP and is open to readers unless values say otherwise", async () => {
    const objects = await release.render(CHART, "monitoring.serviceMonitor.enabled=true");
    expect(argumentsOf(objects).filter((argument) => /admin-tls|read-access/.test(argument))).toEqual([]);
    expect(one(objects, "Service")).toMatchObject({ spec: { ports: [{ name: "admin", appProtocol: "http" }, {}] } });
    expect(JSON.stringify(one(objects, "ServiceMonitor"))).not.toContain("https");
  });

  test("speaks TLS with tls.admin, which the Service, Prometheus and helm test know; probes do not change", async () => {
    const values = ["monitoring.serviceMonitor.enabled=true", "tls.admin=true"];
    const objects = await release.render(CHART, ...values);
    expect(argumentsOf(objects)).toContain("--admin-tls=true");
    expect(one(objects, "Service")).toMatchObject({ spec: { ports: [{ name: "admin", appProtocol: "https" }, {}] } });
    expect(one(objects, "ServiceMonitor")).toMatchObject({
      spec: {
        endpoints: [
          {
            scheme: "https",
            tlsConfig: {
              ca: { secret: { name: `${CHART}-tls`, key: "ca.crt" } },
              serverName: `${CHART}.evenkeel-system.svc`,
            },
          },
        ],
      },
    });
    const { containers, volumes } = one(objects, "Pod", `${CHART}-test`)["spec"] as Pod;
    expect(containers[0]?.env).toEqual(
      expect.arrayContaining([
        { name: "ADDRESS", value: `https://${CHART}.evenkeel-system.svc:8080` },
        { name: "NODE_EXTRA_CA_CERTS", value: "/etc/evenkeel/tls/ca.crt" },
      ]),
    );
    expect(volumes).toMatchObject([{ name: "tls", secret: { secretName: `${CHART}-tls` } }]);
    expect(JSON.stringify(workloadOf(objects))).not.toContain("HTTPS");
  });

  test("asks readers for a token with readAccess=token", async () => {
    expect(argumentsOf(await release.render(CHART, "readAccess=token"))).toContain("--read-access=token");
  });

  test("is reached by an Ingress for the dashboard and its API", async () => {
    const values = ["enabled=true", "host=weights.example.com", "className=nginx", "tlsSecret=weights"];
    const objects = await release.render(CHART, ...values.map((value) => `ingress.${value}`));
    const backend = { service: { name: CHART, port: { name: "admin" } } };
    expect(one(objects, "Ingress")["spec"]).toEqual({
      ingressClassName: "nginx",
      tls: [{ hosts: ["weights.example.com"], secretName: "weights" }],
      rules: [
        {
          host: "weights.example.com",
          http: { paths: ["/dashboard", "/api"].map((path) => ({ path, pathType: "Prefix", backend })) },
        },
      ],
    });
  });
});

describe("state", () => {
  const stateVolume = (objects: readonly Rendered[]) =>
    workloadOf(objects).template.spec.volumes.find(({ name }) => name === "state");

  test("is on an emptyDir and pods are replaced one by one unless values say otherwise", async () => {
    const objects = await release.render("weight-rebalancer");
    expect(stateVolume(objects)).toEqual({ name: "state", emptyDir: { sizeLimit: "64Mi" } });
    expect(workloadOf(objects).strategy.type).toBe("RollingUpdate");
    expect(ofKind(objects, "PersistentVolumeClaim")).toEqual([]);
  });

  test("that must outlive the pod is on a volume, which one pod at a time has", async () => {
    const objects = await release.render(FIXTURE, "persistence.size=2Gi", "persistence.storageClass=fast");
    expect(stateVolume(objects)).toEqual({ name: "state", persistentVolumeClaim: { claimName: `${FIXTURE}-state` } });
    expect(workloadOf(objects).strategy).toEqual({ type: "Recreate" });
    expect(one(objects, "PersistentVolumeClaim", `${FIXTURE}-state`)["spec"]).toEqual({
      accessModes: ["ReadWriteOnce"],
      storageClassName: "fast",
      resources: { requests: { storage: "2Gi" } },
    });
    expect(workloadOf(objects).template.spec.containers[0]?.env).toContainEqual({
      name: "EVENKEEL_STATE",
      value: "sqlite:/var/lib/evenkeel/state.db",
    });
  });

  test("can be on a volume that is there already", async () => {
    const objects = await release.render(FIXTURE, "persistence.existingClaim=kept");
    expect(stateVolume(objects)).toEqual({ name: "state", persistentVolumeClaim: { claimName: "kept" } });
    expect(ofKind(objects, "PersistentVolumeClaim")).toEqual([]);
  });

  test("in Redis needs no volume", async () => {
    const objects = await release.render(FIXTURE, "state.redis.url=redis://redis:6379");
    expect(stateVolume(objects)).toBeUndefined();
    expect(ofKind(objects, "PersistentVolumeClaim")).toEqual([]);
    expect(workloadOf(objects).strategy.type).toBe("RollingUpdate");
  });
});

test("a service may have several named ports for traffic, without a range", async () => {
  const objects = await release.render(FIXTURE);
  expect(workloadOf(objects).template.spec.containers[0]?.ports.slice(3)).toEqual([
    { name: "users", containerPort: 18080 },
    { name: "peers", containerPort: 18081 },
  ]);
  expect(one(objects, "Service")).toMatchObject({
    spec: {
      ports: [
        {},
        {},
        { name: "users", port: 18080, targetPort: "users" },
        { name: "peers", port: 8081, targetPort: "peers" },
      ],
    },
  });
  const { ingress } = one(objects, "NetworkPolicy")["spec"] as { ingress: readonly Ingress[] };
  expect(ingress.at(-1)).toEqual({ ports: [{ port: "users" }, { port: "peers" }] });
});

test("a second account has rights of its own, and the service may only request its tokens", async () => {
  const objects = await release.render(FIXTURE);
  const name = `${FIXTURE}-impersonator`;
  expect(one(objects, "ServiceAccount", name)["automountServiceAccountToken"]).toBe(false);
  expect(one(objects, "ClusterRole", `evenkeel-system:${name}`)["rules"]).toEqual([
    { apiGroups: [""], resources: ["users", "groups"], verbs: ["impersonate"] },
  ]);
  const account = (who: string) => [{ kind: "ServiceAccount", name: who, namespace: "evenkeel-system" }];
  expect(one(objects, "ClusterRoleBinding", `evenkeel-system:${name}`)["subjects"]).toEqual(account(name));
  expect(one(objects, "Role", name)["rules"]).toEqual([
    { apiGroups: [""], resources: ["serviceaccounts/token"], resourceNames: [name], verbs: ["create"] },
  ]);
  expect(one(objects, "RoleBinding", name)["subjects"]).toEqual(account(FIXTURE));
});

test("a service may mount further Secrets, which may be missing where it says so", async () => {
  const { containers, volumes } = workloadOf(await release.render(FIXTURE)).template.spec;
  const [serving, peers] = [{ name: "serving" }, { name: "peers" }];
  expect(containers[0]?.volumeMounts).toEqual(
    expect.arrayContaining([
      { ...serving, mountPath: "/etc/harbour/tls", readOnly: true },
      { ...peers, mountPath: "/etc/harbour/peers", readOnly: true },
    ]),
  );
  expect(volumes).toEqual(
    expect.arrayContaining([
      { ...serving, secret: expect.not.objectContaining({ optional: true }) },
      { ...peers, secret: expect.objectContaining({ secretName: "harbour-peers", optional: true }) },
    ]),
  );
});

test("rules may depend on a value, and take names from values", async () => {
  const rulesOf = async (kind: string, name: string, ...values: readonly string[]) =>
    ofKind(await release.render(FIXTURE, ...values), kind).find(({ metadata }) => metadata.name === name)?.["rules"];
  const lease = { apiGroups: ["coordination.k8s.io"], resources: ["leases"] };
  expect(await rulesOf("Role", FIXTURE)).toEqual([{ ...lease, resourceNames: [FIXTURE], verbs: ["get", "update"] }]);
  expect(await rulesOf("Role", FIXTURE, "settings.leaderElect=false")).toBeUndefined();
  for (const name of ["old", "place/old"]) {
    const rules = await rulesOf("ClusterRole", `evenkeel-system:${FIXTURE}`, `settings.originalLease=${name}`);
    expect(rules).toContainEqual({ ...lease, resourceNames: ["old"], verbs: ["list"] });
  }
});

describe("Helm refuses", () => {
  test.each([
    ["TLS on the admin port without TLS", ["tls.admin=true", "tls.enabled=false"], "tls.admin"],
    ["an Ingress without a host", ["ingress.enabled=true"], "/ingress/host"],
    ["an address range without its length", ["networkPolicy.adminCidrs={10.0.0.1}"], "/networkPolicy/adminCidrs/0"],
    ["a namespace that cannot be one", ["networkPolicy.adminNamespaces={A_b}"], "/networkPolicy/adminNamespaces/0"],
    ["another kind of read access", ["readAccess=closed"], "/readAccess"],
    ["a volume of no size", ["persistence.size="], "/persistence/size"],
    ["two replicas on one volume", ["replicas=2", "persistence.enabled=true"], "/state/redis"],
  ])("%s", async (_title, values, place) => {
    const set = values.flatMap((value) => ["--set", value]);
    const { code, stderr } = await release.tryHelm("template", release.chart("weight-rebalancer"), ...set);
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(place) });
  });
});

describe("the chart of scale-resolver", () => {
  const CHART = "scale-resolver";

  test("has no sidecar of Istio in pods that end: such a sidecar would keep helm uninstall and helm test waiting", async () => {
    const objects = await release.render(CHART);
    const jobs = ofKind(objects, "Job").map((job) => (job["spec"] as { template: Rendered }).template);
    const pods = [...jobs, one(objects, "Pod", `${CHART}-test`)];
    expect(pods).toHaveLength(3);
    const off = { "sidecar.istio.io/inject": "false" };
    for (const { metadata } of pods) expect(metadata).toMatchObject({ labels: off, annotations: off });
    // The resolver's own pod has one in a mesh that requires it.
    expect(JSON.stringify(one(objects, "Deployment"))).not.toContain("sidecar.istio.io");
  });

  test("opens the ports of Services to everyone, or to networkPolicy.trafficFrom, which opens nothing else", async () => {
    const traffic = async (...values: readonly string[]) => {
      const { spec } = one(await release.render(CHART, ...values), "NetworkPolicy");
      const { ingress } = spec as { ingress: readonly Ingress[] };
      return ingress.filter(({ from }) => JSON.stringify(from ?? []).includes("team") || from === undefined);
    };
    const ports = [{ port: "requests" }, { port: 20_000, endPort: 20_999 }];
    const [grpc, health] = [{ ports: [{ port: "grpc" }] }, { ports: [{ port: "health" }] }];
    expect(await traffic()).toEqual([grpc, health, { ports }]);
    const from = [{ namespaceSelector: { matchLabels: { team: "shop" } } }];
    expect(await traffic("networkPolicy.trafficFrom[0].namespaceSelector.matchLabels.team=shop")).toEqual([
      ...[grpc, health],
      { ports, from },
    ]);
  });
});

describe("the chart of eviction-planner", () => {
  const CHART = "eviction-planner";

  test("takes the values of the original's chart under their names", async () => {
    const objects = await release.render(
      CHART,
      ...["replicaCount=1", "leaderElection=false", "fullnameOverride=rebalancer", "image.tag=latest"],
      ...["metrics.service.type=NodePort", "metrics.service.port=9000", "metrics.prometheusAddress=http://prom:9090"],
      ...["ingress.enabled=true", "ingress.className=nginx", "policy.emptyDirThresholdGi=5"],
      ...["ingress.hosts[0].host=one.example.com", "ingress.hosts[0].path=/", "ingress.hosts[1].host=two.example.com"],
      ...["policy.dryRun=false", "policy.maxEvictionsPerNamespace=0", "samples.nodeClass.enabled=true"],
      ...["samples.workloadSLO.enabled=true", "samples.workloadSLO.maxDisruptionsPerHour=0"],
    );
    const args = JSON.stringify(one(objects, "Deployment", "rebalancer"));
    for (const flag of ["--leader-elect=false", "--prometheus-address=http://prom:9090", "--emptydir-threshold-gi=5"])
      expect(args).toContain(flag);
    expect(one(objects, "Service", "rebalancer")).toMatchObject({
      spec: {
        type: "NodePort",
        ports: expect.arrayContaining([expect.objectContaining({ name: "admin", port: 9000 })]),
      },
    });
    expect(one(objects, "Ingress")).toMatchObject({
      spec: { rules: [{ host: "one.example.com" }, { host: "two.example.com" }] },
    });
    expect(one(objects, "RebalancePolicy", "default")).toMatchObject({
      spec: { dryRun: false, maxEvictionsPerNamespace: 0, namespaces: { exclude: ["kube-system"] } },
    });
    // Zeros and false are said, where the original's chart drops them.
    expect(one(objects, "WorkloadSLO")).toMatchObject({
      spec: { maxDisruptionsPerHour: 0, allowStatefulSetEviction: false },
    });
    expect(one(objects, "NodeClass")).toMatchObject({ spec: { preferredFor: ["cpu-bound"], weight: 10 } });
  });

  test("plans in dry run, has no ingress, and keeps its state, unless it is told otherwise", async () => {
    const objects = await release.render(CHART);
    expect(one(objects, "RebalancePolicy", "default")).toMatchObject({ spec: { dryRun: true } });
    expect(ofKind(objects, "Ingress")).toEqual([]);
    expect(one(objects, "Deployment")).toMatchObject({ spec: { strategy: { type: "Recreate" } } });
    expect(ofKind(objects, "PersistentVolumeClaim")).toHaveLength(1);
  });

  test("refuses several replicas without Redis under the original's name too", async () => {
    const { code, stderr } = await release.tryHelm("template", release.chart(CHART), "--set", "replicaCount=2");
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining("needs Redis") });
  });
});
