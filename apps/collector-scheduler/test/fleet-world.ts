import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { eventually } from "@evenkeel/runtime/testing";
import { controlPlane, FaultPlan, simNode, workloads } from "@evenkeel/sim";
import { ADMIN, type ServiceProcess, World, type WorldParts, worldParts } from "@evenkeel/testkit";
import { expect } from "@jest/globals";

/** What the image holds; `nx run collector-scheduler:integration` makes it first. */
const main = join(import.meta.dirname, "../dist/main.mjs");

/** A cluster of one node on which StatefulSets come to life. */
export async function fleetWorld(): Promise<FleetWorld> {
  const outage = new Outage();
  const faults = new FaultPlan();
  const world = new FleetWorld(
    await worldParts({
      service: "collector-scheduler",
      main,
      kinds: ["collectorloadbalancers"],
      flags: { "target-port": "0", interval: "1s", "target-url": "http://targets.test" },
      server: {
        behaviours: [...controlPlane, ...workloads()],
        faults: (request, response) =>
          outage.take(response) === "handled" ? "handled" : faults.faults(request, response),
      },
    }),
    { outage, faults },
  );
  world.load(simNode("one", { cpu: "64", memory: "64Gi" }));
  await eventually(() => expect(world.serves("apis/otel.k8s.aws/v1/collectorloadbalancers")).resolves.toBe(true));
  return world;
}

/** What the API server has of an object, as far as tests look at it. */
interface Read {
  readonly spec: { readonly replicas?: number };
  readonly status?: { readonly replicas?: number; readonly selector?: string; readonly targets?: number };
}

/** A time in which the API server breaks every connection. */
class Outage {
  readonly #open = new Set<ServerResponse>();
  #isOn = false;

  begin(): void {
    this.#isOn = true;
    for (const response of this.#open) response.destroy();
  }

  end(): void {
    this.#isOn = false;
  }

  take(response: ServerResponse): "handled" | "pass" {
    if (this.#isOn) {
      response.destroy();
      return "handled";
    }
    this.#open.add(response);
    response.once("close", () => this.#open.delete(response));
    return "pass";
  }
}

export class FleetWorld extends World {
  readonly outage: Outage;
  readonly faults: FaultPlan;

  constructor(parts: WorldParts, { outage, faults }: { readonly outage: Outage; readonly faults: FaultPlan }) {
    super(parts);
    this.outage = outage;
    this.faults = faults;
  }

  /** Starts the service and resolves when it is ready: several start at the same time, and that may take long. */
  async ready(flags: readonly string[] = []): Promise<ServiceProcess> {
    const service = this.serve(flags);
    await service.phase("ready");
    return service;
  }

  load(object: object): void {
    this.api.load(JSON.stringify(object));
  }

  /** Whether the API server serves a type yet: that of a definition is served a moment after it was created. */
  async serves(path: string): Promise<boolean> {
    const headers = { authorization: `Bearer ${ADMIN.token}` };
    return (await fetch(`${this.api.url}/${path}`, { headers })).ok;
  }

  async read<T = Read>(path: string): Promise<T> {
    const headers = { authorization: `Bearer ${ADMIN.token}` };
    return (await (await fetch(`${this.api.url}/${path}`, { headers })).json()) as T;
  }

  /** Merges `body` into an object, as `kubectl patch` does. */
  async patch(path: string, body: object): Promise<number> {
    const headers = { authorization: `Bearer ${ADMIN.token}`, "content-type": "application/merge-patch+json" };
    const answer = await fetch(`${this.api.url}/${path}`, { method: "PATCH", headers, body: JSON.stringify(body) });
    return answer.status;
  }

  async remove(path: string): Promise<void> {
    const headers = { authorization: `Bearer ${ADMIN.token}` };
    await fetch(`${this.api.url}/${path}`, { method: "DELETE", headers });
  }
}

export const loadBalancer = (name: string) => `apis/otel.k8s.aws/v1/namespaces/default/collectorloadbalancers/${name}`;

export const statefulSet = (name: string) => `apis/apps/v1/namespaces/default/statefulsets/${name}-collector`;

/** A CollectorLoadBalancer with one job of `count` static targets. */
export function staticFleet(name: string, count: number, spec: object = {}): object {
  const targets = Array.from({ length: count }, (_, index) => `10.0.0.${index}:9100`);
  const jobs = [
    { job_name: "shop/app", scrape_interval: "1s", static_configs: [{ targets, labels: { team: "shop" } }] },
  ];
  return {
    apiVersion: "otel.k8s.aws/v1",
    kind: "CollectorLoadBalancer",
    metadata: { name, namespace: "default" },
    spec: {
      replicas: 3,
      collectorImage: "collector:1",
      collectorConfig: configuration(jobs),
      placement: { cooldown: "1s" },
      ...spec,
    },
  };
}

export function configuration(jobs: readonly object[]): string {
  return JSON.stringify({ receivers: { prometheus: { config: { scrape_configs: jobs } } }, exporters: { debug: {} } });
}

export interface Served {
  readonly targets: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
}

/** What a service tells a collector of a job; fails unless it is 200 with JSON. */
export async function targetsOf(service: ServiceProcess, path: string): Promise<readonly Served[]> {
  const headers = { "x-prometheus-refresh-interval-seconds": "1" };
  const answer = await fetch(await service.url("targets", path), { headers });
  expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "application/json"]);
  return (await answer.json()) as readonly Served[];
}

/** Resolves with the addresses of each of the collectors once each has some and all of `count` are told once. */
export async function settled(
  service: ServiceProcess,
  path: (collector: string) => string,
  collectors: readonly string[],
  count: number,
): Promise<ReadonlyMap<string, readonly string[]>> {
  let found = new Map<string, readonly string[]>();
  await eventually(async () => {
    const all = await Promise.all(collectors.map((collector) => targetsOf(service, path(collector))));
    found = new Map(all.map((own, index) => [collectors[index] ?? "", own.flatMap(({ targets }) => targets)]));
    const addresses = [...found.values()].flat();
    expect([addresses.length, new Set(addresses).size]).toEqual([count, count]);
    expect([...found].filter(([, own]) => own.length === 0)).toEqual([]);
  }, 60_000);
  return found;
}
