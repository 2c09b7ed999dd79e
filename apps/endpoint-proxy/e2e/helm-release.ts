import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { helmEnvironment, helmOutput, kubectl, pinnedHelm } from "@evenkeel/e2e";
import { eventually } from "@evenkeel/runtime/testing";
import { expect } from "@jest/globals";
import { type Name, NAMES, type ThreeProxies } from "./three-proxies.ts";

const pod = `
    metadata: { labels: { app: APP } }
    spec:
      serviceAccountName: shop
      containers:
        - name: main
          image: web:1
          envFrom: [{ secretRef: { name: shop } }]
          resources: { requests: { cpu: 10m } }
      volumes: [{ name: config, configMap: { name: shop } }]`;

/** A release of everything that pods name, each called `shop`. */
const templates = `
{ apiVersion: v1, kind: ServiceAccount, metadata: { name: shop } }
---
{ apiVersion: v1, kind: ConfigMap, metadata: { name: shop }, data: { greeting: "{{ .Values.greeting }}" } }
---
{ apiVersion: v1, kind: Secret, metadata: { name: shop }, stringData: { password: "{{ .Values.greeting }}" } }
---
{ apiVersion: v1, kind: Service, metadata: { name: shop }, spec: { selector: { app: web }, ports: [{ port: 80 }] } }
---
apiVersion: apps/v1
kind: Deployment
metadata: { name: web }
spec:
  replicas: {{ .Values.replicas }}
  selector: { matchLabels: { app: web } }
  template:${pod.replace("APP", "web")}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: { name: store }
spec:
  replicas: 3
  serviceName: shop
  selector: { matchLabels: { app: store } }
  template:${pod.replace("APP", "store")}
`;

const SPACE = "--namespace=market";

/** Helm at the server of all clusters, as ops, and what the clusters then have. */
export class HelmRelease {
  readonly #proxies: ThreeProxies;
  readonly #folder: string;
  readonly #helm: string;

  private constructor(proxies: ThreeProxies, folder: string, helm: string) {
    this.#proxies = proxies;
    this.#folder = folder;
    this.#helm = helm;
  }

  /** Writes the chart and a kubeconfig. */
  static async open(proxies: ThreeProxies): Promise<HelmRelease> {
    const folder = mkdtempSync(join(tmpdir(), "endpoint-proxy-helm-"));
    mkdirSync(join(folder, "shop", "templates"), { recursive: true });
    writeFileSync(join(folder, "shop", "Chart.yaml"), "apiVersion: v2\nname: shop\nversion: 1.0.0\n");
    writeFileSync(join(folder, "shop", "values.yaml"), "greeting: hello\nreplicas: 6\n");
    writeFileSync(join(folder, "shop", "templates", "all.yaml"), templates);
    const [certificate = "", key = ""] = (await proxies.certificateOf("ops")).map((flag) => flag.split("=")[1]);
    const cluster = { server: proxies.serverOf(undefined), "certificate-authority": proxies.authorityFile };
    const kubeconfig = {
      ...{ apiVersion: "v1", kind: "Config", "current-context": "all" },
      contexts: [{ name: "all", context: { cluster: "all", user: "ops" } }],
      users: [{ name: "ops", user: { "client-certificate": certificate, "client-key": key } }],
      clusters: [{ name: "all", cluster }],
    };
    writeFileSync(join(folder, "kubeconfig"), JSON.stringify(kubeconfig), { mode: 0o600 });
    return new HelmRelease(proxies, folder, await pinnedHelm());
  }

  [Symbol.dispose](): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  get chart(): string {
    return join(this.#folder, "shop");
  }

  /** It must succeed. */
  async helm(...args: string[]): Promise<string> {
    const env = helmEnvironment(join(this.#folder, "helm"), join(this.#folder, "kubeconfig"));
    return helmOutput(this.#helm, [...args, SPACE], env);
  }

  /** KWOK runs pods whatever they name, so what they name is read too. */
  async expectEverywhere(greeting: string, replicas: number): Promise<void> {
    const web = await this.#parts("deployment/web", replicas);
    const store = await this.#parts("statefulset/store", 3);
    const secret = Buffer.from(greeting).toString("base64");
    expect(await this.#each("configmap/shop", ".data.greeting")).toEqual([greeting, greeting, greeting]);
    expect(await this.#each("secret/shop", ".data.password")).toEqual([secret, secret, secret]);
    expect(await this.#each("serviceaccount/shop", ".metadata.name")).toEqual(["shop", "shop", "shop"]);
    expect(await this.#each("service/shop", ".spec.ports[0].port")).toEqual(["80", "80", "80"]);
    await eventually(async () => {
      for (const [index, name] of NAMES.entries()) {
        const phases = await this.#get(name, "pods", "-o", "jsonpath={.items[*].status.phase}");
        const count = (web[index] ?? 0) + (store[index] ?? 0);
        expect(phases.split(" ")).toEqual(Array.from({ length: count }, () => "Running"));
      }
    }, 60_000);
  }

  async expectNowhere(): Promise<void> {
    const kinds = "deployments,statefulsets,replicasets,services,configmaps,secrets,serviceaccounts,pods";
    const ofKubernetes = ["configmap/kube-root-ca.crt", "serviceaccount/default"];
    await eventually(async () => {
      for (const name of NAMES) {
        const left = (await this.#get(name, kinds, "-o", "name")).split("\n").filter((line) => line !== "");
        expect({ name, left }).toEqual({ name, left: ofKubernetes });
      }
    }, 60_000);
  }

  /** The replicas in each cluster: every one has some, and they add up to `total`. */
  async #parts(what: string, total: number): Promise<readonly number[]> {
    const parts = (await this.#each(what, ".spec.replicas")).map(Number);
    expect(parts.reduce((sum, part) => sum + part, 0)).toBe(total);
    expect(Math.min(...parts)).toBeGreaterThan(0);
    return parts;
  }

  /** A field of an object in each cluster. */
  async #each(what: string, field: string): Promise<string[]> {
    return Promise.all(NAMES.map(async (name) => this.#get(name, what, "-o", `jsonpath={${field}}`)));
  }

  async #get(name: Name, ...args: string[]): Promise<string> {
    return kubectl(this.#proxies.cluster(name), ["get", SPACE, ...args]);
  }
}
