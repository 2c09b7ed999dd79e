import { eventually } from "@evenkeel/runtime/testing";
import { type ApiServerOptions, controlPlane, simNode, workloads } from "@evenkeel/sim";
import { ADMIN, type ServiceProcess, type World } from "@evenkeel/testkit";
import { expect } from "@jest/globals";
import { plannerWorld } from "./planner-world.ts";

/** One node took all pods of a Deployment, because two others joined later. */
export async function hotSpot(options: Partial<ApiServerOptions> = {}): Promise<World> {
  const behaviours = [...controlPlane, ...workloads({ startDelay: 100, terminationDelay: 100 })];
  const world = await plannerWorld({ behaviours, ...options });
  load(world, simNode("one", { cpu: "4", memory: "8Gi" }));
  load(world, deployment("press", 7, { app: "press", rebalancer: "ok" }));
  await eventually(async () => expect(await nodesOf(world)).toEqual(Array<string>(7).fill("one")));
  for (const name of ["two", "three"]) load(world, simNode(name, { cpu: "4", memory: "8Gi" }));
  return world;
}

export const load = (world: World, object: object) => world.api.load(JSON.stringify(object));

function deployment(name: string, replicas: number, labels: Readonly<Record<string, string>>): object {
  const resources = { requests: { cpu: "500m", memory: "1Gi" } };
  const template = { metadata: { labels }, spec: { containers: [{ name: "main", image: "press:1", resources }] } };
  const spec = { replicas, selector: { matchLabels: { app: name } }, template };
  return { apiVersion: "apps/v1", kind: "Deployment", metadata: { name, namespace: "default" }, spec };
}

export function policy(name: string, spec: object): object {
  return { apiVersion: "rebalancer.dev/v1", kind: "RebalancePolicy", metadata: { name }, spec };
}

export async function read<T>(world: World, path: string): Promise<T> {
  const headers = { authorization: `Bearer ${ADMIN.token}` };
  return (await (await fetch(`${world.api.url}/${path}`, { headers })).json()) as T;
}

export interface PodList {
  readonly items: readonly {
    readonly spec: { readonly nodeName?: string };
    readonly metadata: { readonly uid: string };
  }[];
}

export async function nodesOf(world: World): Promise<readonly (string | undefined)[]> {
  const { items } = await read<PodList>(world, "api/v1/namespaces/default/pods");
  return items.map(({ spec }) => spec.nodeName);
}

export const statusOf = (world: World, name: string) =>
  read<{ readonly status?: unknown }>(world, `apis/rebalancer.dev/v1/rebalancepolicies/${name}`);

export async function metric(service: ServiceProcess, line: RegExp): Promise<number> {
  const text = await (await fetch(await service.url("admin", "/metrics"))).text();
  return Number(line.exec(text)?.[1] ?? NaN);
}
