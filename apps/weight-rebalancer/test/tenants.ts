import { createServer, type Server } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { eventually } from "@evenkeel/runtime/testing";
import { ACCESS_KEY_AUTH, type Prometheus, type RecordSet, type Route53 } from "@evenkeel/sim";
import { type LoopbackAddresses, loopbackAddresses } from "@evenkeel/testkit";
import type { StoredRebalance } from "../src/rebalance-resource.ts";

export const TENANTS = ["anna", "boris"] as const;
export type Tenant = (typeof TENANTS)[number];

/** A Rebalance by which a tenant tries to reach what the other one has, and the condition that it gets. */
export interface Attempt {
  /** The fields that are used, without the list that may hold them. */
  readonly fields: readonly string[];
  readonly rebalance: TenantObject;
  readonly condition: Readonly<Record<"type" | "reason", string>> & { readonly message?: string };
}

export interface TenantObject {
  readonly metadata: { readonly namespace: string; readonly name: string };
}

/** Named by no Rebalance of its owner, so that the service has no reason to read it. */
const PRIVATE_SECRET = "private";

const ROUTE53_KEYS = ["accessKeyIDSecretRef", "secretAccessKeySecretRef", "sessionTokenSecretRef"] as const;

const zoneOf = (tenant: string) => `Z${tenant.toUpperCase()}`;
const nameOf = (tenant: string) => `${tenant}.example.com`;
const queryOf = (tenant: string) => `sum(${tenant})`;
const keyIdOf = (tenant: string) => `AKID${tenant.toUpperCase()}`;
const privateValue = (tenant: string) => `private of ${tenant}`;
const otherOf = (tenant: Tenant): Tenant => (tenant === "anna" ? "boris" : "anna");

/**
 * Resolves when what is created from now on is younger than what was created before: the age of objects is in whole
 * seconds.
 */
export async function nextSecond(): Promise<void> {
  const second = () => Math.floor(Date.now() / 1000);
  const now = second();
  await eventually(() => second() !== now);
}

/** The attempts that do not have their condition, with what they have instead. */
export function unmet(attempts: readonly Attempt[], stored: readonly StoredRebalance[]): readonly string[] {
  return attempts.flatMap(({ fields, rebalance: { metadata }, condition: { type, reason, message = "" } }) => {
    const isIt = ({ metadata: { namespace, name } }: StoredRebalance) =>
      namespace === metadata.namespace && name === metadata.name;
    const status = stored.find(isIt)?.status;
    const found = status?.conditions?.find((each) => each.type === type);
    const isMet = found?.status === "False" && found.reason === reason && found.message.includes(message);
    return isMet ? [] : [`${metadata.namespace}: ${fields.join()}: expected ${reason}, not ${JSON.stringify(found)}`];
  });
}

/**
 * Two tenants of one service, each with a namespace, a zone that only its access key reaches, and a metric server at an
 * address of its own that only it may ask.
 */
export class Tenants implements AsyncDisposable {
  readonly #route53: Route53;
  readonly #addresses: LoopbackAddresses;
  readonly #servers: Readonly<Record<Tenant, MetricServer>>;

  private constructor(route53: Route53, addresses: LoopbackAddresses, servers: Record<Tenant, MetricServer>) {
    this.#route53 = route53;
    this.#addresses = addresses;
    this.#servers = servers;
    for (const tenant of TENANTS) {
      const record = (setIdentifier: string, weight: number): RecordSet => {
        return { name: nameOf(tenant), type: "A", setIdentifier, weight, ttl: 60, values: ["192.0.2.1"] };
      };
      route53.addZone(zoneOf(tenant), nameOf(tenant), [record("base", 8), record("burst", 3)]);
      route53.faults.add({
        fault: { kind: "status", code: 403 },
        when: ({ url = "", headers: { authorization = "" } }) =>
          url.includes(`/${zoneOf(tenant)}/`) && !authorization.includes(`Credential=${keyIdOf(tenant)}/`),
      });
    }
  }

  static async start({ route53, prometheus }: { route53: Route53; prometheus: Prometheus }): Promise<Tenants> {
    for (const tenant of TENANTS)
      prometheus.answer(queryOf(tenant), () => ({ kind: "vector", samples: [{ metric: {}, value: 3000 }] }));
    const addresses = await loopbackAddresses();
    const server = (tenant: Tenant) => MetricServer.start(addresses.of(tenant), prometheus);
    return new Tenants(route53, addresses, { anna: await server("anna"), boris: await server("boris") });
  }

  /** What the service is started with. */
  get flags(): readonly string[] {
    const allowed = TENANTS.map((tenant) => `${tenant}/${this.#addresses.of(tenant)}`);
    return ["--allow-ambient-credentials=platform", `--prometheus-allow=${allowed.join(",")}`];
  }

  /** The Secrets and the HTTPRoute of a tenant. */
  belongings(tenant: Tenant): readonly TenantObject[] {
    const metadata = (name: string) => ({ namespace: tenant, name });
    const secret = (name: string, data: Readonly<Record<string, string>>) => ({
      ...{ apiVersion: "v1", kind: "Secret", metadata: metadata(name) },
      data: Object.fromEntries(Object.entries(data).map(([key, value]) => [key, btoa(value)])),
    });
    const backendRefs = ["base", "burst"].map((name) => ({ name, port: 80, weight: 1 }));
    return [
      secret("aws", { id: keyIdOf(tenant), key: "secret" }),
      secret(PRIVATE_SECRET, { value: privateValue(tenant) }),
      {
        ...{ apiVersion: "gateway.networking.k8s.io/v1", kind: "HTTPRoute", metadata: metadata(`${tenant}-shop`) },
        ...{ spec: { rules: [{ backendRefs }] } },
      },
    ];
  }

  /** A Rebalance of a tenant's record `burst`, with its own access key and its own metric server. */
  rebalance(tenant: Tenant): TenantObject {
    return this.#rebalance(tenant, "own", { target: this.#record(tenant, "burst") });
  }

  /**
   * The weights of a tenant's records: `burst` has 3, and 16 after the tenant's own Rebalance wrote it; `base` stays.
   */
  weights(tenant: Tenant): Readonly<Record<string, number | undefined>> {
    const records = this.#route53.records(zoneOf(tenant));
    return Object.fromEntries(records.map(({ setIdentifier = "", weight }) => [setIdentifier, weight]));
  }

  /** A Rebalance that claims the record of the other tenant, to be created before its owner's. */
  squatter(tenant: Tenant): Attempt {
    return {
      fields: ["target.route53.hostedZoneID"],
      rebalance: this.#rebalance(tenant, "squatter", { target: this.#record(otherOf(tenant), "burst") }),
      condition: { type: "TargetSynced", reason: "Route53Denied" },
    };
  }

  /**
   * Every way to the other tenant's Secrets, records, routes and metric server. One tenant names them in lists, the
   * other does not.
   */
  attempts(tenant: Tenant): readonly Attempt[] {
    const other = otherOf(tenant);
    const secret = { namespace: other, name: PRIVATE_SECRET, key: "value" };
    const own = { name: "aws", key: "key" };
    const denied = (message: string) => ({ type: "MetricsAvailable", reason: "QueryFailed", message });
    const target = (fields: string, to: object, reason: string, type = "TargetSynced") => {
      const names = fields.split(" ").map((field) => `target.${field}`);
      return { fields: names, change: { target: to }, condition: { type, reason } };
    };
    const metric = (fields: string, change: object, message: string) => ({
      fields: fields.split(" ").map((field) => `metrics.prometheus.${field}`),
      change: { prometheus: change },
      condition: denied(message),
    });
    const byRecord = "route53.hostedZoneID route53.resource.name route53.resource.type route53.resource.identifier";
    const elsewhere = "--allow-cross-namespace-secrets";
    const header = (name: string, value: object) => ({ headers: [{ name, ...value }] });
    const all = [
      ...ROUTE53_KEYS.map((field) => {
        const auth = { secretRef: { ...ACCESS_KEY_AUTH.secretRef, [field]: secret } };
        const path = `route53.auth.secretRef.${field}`;
        return target(path, this.#record(tenant, "base", { auth }), "SecretElsewhere");
      }),
      target(
        "route53.auth",
        this.#record(other, "burst", { auth: undefined, endpoint: undefined }),
        "Route53AmbientDenied",
      ),
      target("route53.endpoint", this.#record(other, "burst", { auth: undefined }), "Route53AmbientDenied"),
      target(
        "route53.auth.assumeRole.roleARN",
        this.#record(other, "burst", {
          ...{ endpoint: undefined, auth: { assumeRole: { roleARN: `arn:aws:iam::123456789012:role/${other}` } } },
        }),
        "Route53AmbientDenied",
      ),
      target(byRecord, this.#record(other, "base"), "Route53Denied"),
      target(byRecord, this.#record(other, "burst"), "Conflict", "Ready"),
      ...[
        [`${other}-shop`, "NoHttpRoute"] as const,
        [`${other}/${other}-shop`, "KubeBadName"] as const,
        [`../../${other}/httproutes/${other}-shop`, "KubeBadName"] as const,
      ].map(([name, reason]) =>
        target("httpRoute.name httpRoute.backend", { httpRoute: { name, backend: "burst" } }, reason),
      ),
      metric("address", { address: this.#servers[other].url }, "--prometheus-allow"),
      metric("address", { address: this.#servers[other].url.replace("//", "//user:password@") }, "--prometheus-allow"),
      metric("headers[].name headers[].value", header("Host", { value: nameOf(other) }), "host"),
      metric("headers[].valueSecretRef", header("x-token", { valueSecretRef: secret }), elsewhere),
      metric("auth.bearerSecretRef", { auth: { bearerSecretRef: secret } }, elsewhere),
      metric(
        "auth.secretRef.userSecretRef",
        { auth: { secretRef: { userSecretRef: secret, passwordSecretRef: own } } },
        elsewhere,
      ),
      metric(
        "auth.secretRef.passwordSecretRef",
        { auth: { secretRef: { userSecretRef: own, passwordSecretRef: secret } } },
        elsewhere,
      ),
      metric("tls.caSecretRef", { tls: { caSecretRef: secret } }, elsewhere),
      metric("tls.certSecretRef", { tls: { certSecretRef: secret, keySecretRef: own } }, elsewhere),
      metric("tls.keySecretRef", { tls: { certSecretRef: own, keySecretRef: secret } }, elsewhere),
    ];
    return all.map(({ fields, change, condition }, index) => ({
      fields,
      condition,
      rebalance: this.#rebalance(tenant, `attempt-${index}`, change, tenant === "boris"),
    }));
  }

  /** Whether a text has the value of a Secret that no Rebalance may read. */
  isSecret(text: string): boolean {
    return TENANTS.some((tenant) => text.includes(privateValue(tenant)));
  }

  /**
   * Requests that brought one tenant's Secret to the other, or came to a tenant's metric server from the other's
   * Rebalances.
   */
  get leaks(): readonly string[] {
    return TENANTS.flatMap((tenant) => {
      const other = otherOf(tenant);
      const isLeak = (request: string) => request.includes(privateValue(other)) || request.includes(queryOf(other));
      return this.#servers[tenant].requests.filter(isLeak);
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(Object.values(this.#servers).map((server) => server[Symbol.asyncDispose]()));
    await this.#addresses[Symbol.asyncDispose]();
  }

  #record(tenant: Tenant, identifier: string, change: object = {}): object {
    const resource = { name: nameOf(tenant), type: "A", identifier };
    const access = { endpoint: this.#route53.url, auth: ACCESS_KEY_AUTH };
    return { route53: { hostedZoneID: zoneOf(tenant), resource, ...access, ...change } };
  }

  #rebalance(
    namespace: Tenant,
    name: string,
    change: { readonly target?: object; readonly prometheus?: object },
    isListed = false,
  ): TenantObject {
    const target = change.target ?? this.#record(namespace, "base");
    const prometheus = { address: this.#servers[namespace].url, query: queryOf(namespace), ...change.prometheus };
    return {
      ...{ apiVersion: "rebalancer.ch1aki.github.io/v1", kind: "Rebalance", metadata: { namespace, name } },
      ...{
        spec: {
          interval: "2s",
          policy: { targettracking: { targetValue: 1000, baseValue: 8 } },
          ...(isListed ? { targets: [target], metricSources: [{ prometheus }] } : { target, metrics: { prometheus } }),
        },
      },
    };
  }
}

/** Passes queries on to the one Prometheus behind it, and keeps them. */
class MetricServer implements AsyncDisposable {
  readonly url: string;
  /** Addresses and headers. */
  readonly requests: string[] = [];
  readonly #server: Server;

  private constructor(server: Server, prometheus: Prometheus) {
    this.#server = server;
    const { address, port } = server.address() as AddressInfo;
    this.url = `http://${address}:${port}`;
    server.on("request", ({ url = "", headers }, response) => {
      this.requests.push(`${decodeURIComponent(url)} ${JSON.stringify(headers)}`);
      void fetch(`${prometheus.url}${url}`).then(async (answer) => {
        response.writeHead(answer.status, { "content-type": "application/json" }).end(await answer.text());
      });
    });
  }

  static async start(host: string, prometheus: Prometheus): Promise<MetricServer> {
    const server = createServer().listen(0, host);
    await once(server, "listening");
    return new MetricServer(server, prometheus);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }
}
