import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { clusterScores, type StoredClusterScore } from "@evenkeel/endpoint-proxy";
import { namespaces } from "@evenkeel/kube";
import { Authority } from "@evenkeel/sim";
import { DEPLOYMENTS, HOT, NAMESPACE, PeerCluster, replicasIn } from "../src/peer-cluster.ts";
import type { Check, Control, Scene, Stage, Story } from "../src/story.ts";

const OWN = "harbour";
const IMPERSONATOR = "endpoint-proxy-impersonator";
/** The user of the story. */
const CAPTAIN = "captain";

/** Replicas are applied and scaled over three clusters; one of them gets hot, and one dies. */
const story: Story = {
  service: "endpoint-proxy",
  about: "one apply is divided over three clusters; hot and dead ones get no further replicas",
  open: async (stage) => {
    const peers = { osaka: new PeerCluster("osaka", 410), kyoto: new PeerCluster("kyoto", 180) };
    for (const peer of Object.values(peers)) await peer.start();
    return new Clusters(stage, peers, await freePort());
  },
};

export default story;

class Clusters implements Scene {
  readonly flags: readonly string[];
  readonly env = {};
  readonly controls: readonly Control[] = [
    { name: "apply", label: "Apply a Deployment", run: async () => this.#apply("ferry", 12) },
    { name: "scale", label: "Scale it to 24", run: async () => this.#scale("ferry", 24) },
    { name: "heat", label: "Osaka gets hot", run: () => this.#heat() },
    { name: "die", label: "Kyoto dies", run: async () => this.#die() },
    { name: "revive", label: "Kyoto is back", run: async () => this.#revive() },
  ];
  readonly checks: readonly Check[] = [
    {
      name: "three clusters have a score",
      act: () => this.#create(),
      outcome: async () => {
        for (const name of [OWN, "osaka", "kyoto"]) await this.#is(name, "Scored");
      },
    },
    {
      name: "one apply is divided over all of them, and the parts add up",
      outcome: async () => {
        if (sum(await this.#parts("ferry")) === 0) await this.#apply("ferry", 12);
        const parts = await this.#parts("ferry");
        if (sum(parts) !== 12 || Math.min(...parts) === 0) throw new Error(`the parts are ${parts.join(", ")}`);
      },
    },
    {
      name: "a cluster that gets hot has a higher score",
      act: () => void this.#heat(),
      outcome: async () => {
        const found = await this.#score("osaka");
        if (found.status?.score !== HOT) throw new Error(`osaka has the score ${found.status?.score ?? "none"}`);
      },
    },
    {
      name: "a scale-up takes from no cluster, and goes past the hot one",
      act: async () => {
        this.#before = await this.#parts("ferry");
        await this.#scale("ferry", 24);
      },
      outcome: async () => {
        const parts = await this.#parts("ferry");
        const [before = [], now] = [this.#before, parts];
        if (sum(now) !== 24 || now[1] !== before[1]) throw new Error(`${before.join(", ")} became ${now.join(", ")}`);
        if (now.some((part, index) => part < (before[index] ?? 0))) throw new Error("a cluster lost replicas");
      },
    },
    {
      name: "a cluster that does not answer is unreachable, and the others keep their scores",
      act: async () => {
        await this.#die();
      },
      outcome: async () => {
        await this.#is("kyoto", "Unreachable");
        await this.#is("osaka", "Scored");
      },
    },
    {
      name: "a new Deployment goes to the clusters that answer",
      act: async () => {
        await this.#apply("barge", 6);
      },
      outcome: async () => {
        const [own = 0, osaka = 0, kyoto] = await this.#parts("barge");
        if (own + osaka !== 6 || kyoto !== 0) throw new Error(`the parts are ${own}, ${osaka}, ${kyoto}`);
      },
    },
    {
      name: "a cluster that is back has a score again, and what it held",
      act: async () => {
        await this.#revive();
      },
      outcome: async () => {
        await this.#is("kyoto", "Scored");
        if (sum(await this.#parts("ferry")) !== 24) throw new Error("replicas of ferry are lost");
      },
    },
  ];
  readonly #stage: Stage;
  readonly #peers: Readonly<Record<"osaka" | "kyoto", PeerCluster>>;
  readonly #port: number;
  readonly #authority: string;
  readonly #folder = mkdtempSync(join(tmpdir(), "evenkeel-demo-clusters-"));
  #before: readonly number[] | undefined;

  constructor(stage: Stage, peers: Readonly<Record<"osaka" | "kyoto", PeerCluster>>, port: number) {
    this.#stage = stage;
    this.#peers = peers;
    this.#port = port;
    const [pki, authorities] = ["pki", "peers"].map((name) => join(this.#folder, name)) as [string, string];
    for (const folder of [pki, authorities]) mkdirSync(folder);
    using authority = new Authority(OWN);
    this.#authority = authority.cert;
    const { cert, key } = authority.server(undefined, "wao-endpoint-proxy");
    writeFileSync(join(pki, "tls.crt"), cert);
    writeFileSync(join(pki, "tls.key"), key);
    for (const peer of Object.values(peers)) writeFileSync(join(authorities, peer.name), peer.authority);
    this.flags = [
      ...["--fetch-interval=1", `--cluster-name=${OWN}`, `--watch-namespaces=${NAMESPACE}`, "--port2=0"],
      `--lease-namespace=${NAMESPACE}`,
      `--port1=${port}`,
      `--certificate-directory=${pki}`,
      `--peer-authorities=${authorities}`,
    ];
  }

  play(): () => void {
    void this.#create().catch((error: unknown) =>
      this.#stage.tell(`the ClusterScores were not created: ${String(error)}`),
    );
    return () => undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const peer of Object.values(this.#peers)) await peer.end();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #create(): Promise<void> {
    const { kube } = this.#stage;
    await kube.resource(namespaces).create({ metadata: { name: NAMESPACE } });
    for (const [path, object] of accounts()) {
      const headers = { "content-type": "application/json" };
      const sent = { method: "POST", headers, body: JSON.stringify(object) };
      const { ok, status } = await fetch(`${this.#stage.harbour.url}${path}`, sent);
      if (!ok) throw new Error(`POST ${path} gave ${status}`);
    }
    const { group, version, kind } = clusterScores;
    for (const { name, endpoint } of Object.values(this.#peers)) {
      const object = { apiVersion: `${group}/${version}`, kind, metadata: { namespace: NAMESPACE, name } };
      await kube.resource(clusterScores).create({ ...object, spec: { endpoint } });
    }
  }

  /** At the port for users, as kubectl would. Gives the Warning, which says where the replicas are. */
  async #write(method: string, path: string, body: object, type = "application/json"): Promise<string> {
    const account = `/api/v1/namespaces/${NAMESPACE}/serviceaccounts/${CAPTAIN}/token`;
    const asked = { method: "POST", headers: { "content-type": "application/json" }, body: "{}" };
    const issued = (await (await fetch(`${this.#stage.harbour.url}${account}`, asked)).json()) as {
      readonly status?: { readonly token?: string };
    };
    const headers = { authorization: `Bearer ${issued.status?.token ?? ""}`, "content-type": type };
    const url = new URL(path, `https://127.0.0.1:${this.#port}`);
    return new Promise((resolve, reject) => {
      const sent = request(url, { method, headers, ca: this.#authority, agent: false }, (response) => {
        text(response).then((answer) => {
          const { statusCode = 0 } = response;
          const said = /"(.*)"/.exec(response.headers["warning"] ?? "")?.[1];
          if (statusCode < 300) resolve(said ?? answer);
          else reject(new Error(`${method} ${path} gave ${statusCode}: ${answer}`));
        }, reject);
      });
      sent.on("error", reject);
      sent.end(JSON.stringify(body));
    });
  }

  async #apply(name: string, replicas: number): Promise<string> {
    return this.#write("POST", DEPLOYMENTS, deployment(name, replicas));
  }

  async #scale(name: string, replicas: number): Promise<string> {
    const type = "application/merge-patch+json";
    return this.#write("PATCH", `${DEPLOYMENTS}/${name}/scale`, { spec: { replicas } }, type);
  }

  #heat(): string {
    this.#peers.osaka.heat(true);
    return "99 % of osaka's CPU is requested";
  }

  /** Replicas in the own cluster, osaka and kyoto. */
  async #parts(name: string): Promise<readonly number[]> {
    const own = await fetch(`${this.#stage.harbour.url}${DEPLOYMENTS}/${name}`);
    const body = await own.text();
    const { osaka, kyoto } = this.#peers;
    return [own.ok ? replicasIn(body) : 0, await osaka.replicas(name), await kyoto.replicas(name)];
  }

  async #die(): Promise<string> {
    await this.#peers.kyoto.stop();
    return "kyoto does not answer any more";
  }

  async #revive(): Promise<string> {
    await this.#peers.kyoto.start();
    return "kyoto answers again";
  }

  async #score(name: string): Promise<StoredClusterScore> {
    return this.#stage.kube.resource(clusterScores).get({ namespace: NAMESPACE, name });
  }

  async #is(name: string, reason: string): Promise<void> {
    const found = await this.#score(name);
    const ready = found.status?.conditions?.find(({ type }) => type === "Ready");
    if (ready?.reason !== reason) throw new Error(`${name} is ${ready?.reason ?? "not judged yet"}, not ${reason}`);
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0);
}

function deployment(name: string, replicas: number): object {
  const labels = { app: name };
  const containers = [{ name: "main", image: `images.invalid/${name}:1`, resources: { requests: { cpu: "100m" } } }];
  return {
    ...{ apiVersion: "apps/v1", kind: "Deployment", metadata: { name, labels } },
    spec: { replicas, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } },
  };
}

/** The rights of the chart's second ServiceAccount and of the proxies, and a user who may do everything. */
const accounts = (): readonly (readonly [path: string, object: object])[] => {
  const rbac = "rbac.authorization.k8s.io";
  const bind = (name: string, role: string, subject: object) =>
    [
      `/apis/${rbac}/v1/clusterrolebindings`,
      { metadata: { name }, roleRef: { apiGroup: rbac, kind: "ClusterRole", name: role }, subjects: [subject] },
    ] as const;
  const account = (name: string) => ({ kind: "ServiceAccount", name, namespace: NAMESPACE });
  const group = { kind: "Group", apiGroup: rbac, name: "evenkeel:endpoint-proxies" };
  return [
    ...[IMPERSONATOR, CAPTAIN].map(
      (name) => [`/api/v1/namespaces/${NAMESPACE}/serviceaccounts`, { metadata: { name } }] as const,
    ),
    bind("demo-impersonator", "everything", account(IMPERSONATOR)),
    bind("demo-captain", "everything", account(CAPTAIN)),
    bind("demo-proxies", "everything", group),
  ];
};

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
