import { ACCESS_KEY_AUTH } from "@evenkeel/sim";
import { rebalances } from "@evenkeel/weight-rebalancer";
import { BASE, TARGET, type World, ZONE } from "./world.ts";

/**
 * One record with its metric, and the Rebalance that manages it. After a deletion, another one under another name
 * manages it.
 */
export class Berth {
  readonly record: string;
  readonly #world: World;
  readonly #query: string;
  /** Null is no sample at all. */
  #metric: number | null = 2 * TARGET;
  #tenants = 0;

  constructor(world: World, number: number) {
    this.#world = world;
    this.record = `s${number}.example.com`;
    this.#query = `sum(requests{site="s${number}"})`;
    world.prometheus.answer(this.#query, () => ({
      kind: "vector",
      samples: this.#metric === null ? [] : [{ metric: {}, value: this.#metric }],
    }));
  }

  set metric(value: number | null) {
    this.#metric = value;
  }

  /** A new Rebalance; `onDelete` of every second one takes the weight back when it goes. */
  async moveIn(): Promise<void> {
    this.#tenants += 1;
    const resource = { name: this.record, type: "A", identifier: "blue" };
    const { route53, prometheus } = this.#world;
    await this.#world.kube.resource(rebalances).create({
      apiVersion: "rebalancer.ch1aki.github.io/v1",
      kind: "Rebalance",
      metadata: this.#tenant,
      spec: {
        interval: "1s",
        policy: { targettracking: { targetValue: TARGET, baseValue: BASE } },
        target: {
          route53: { hostedZoneID: ZONE, region: "us-east-1", endpoint: route53.url, auth: ACCESS_KEY_AUTH, resource },
        },
        metrics: { prometheus: { address: prometheus.url, query: this.#query } },
        ...(this.#tenants % 2 === 0 && { onDelete: "revert" }),
      },
    });
  }

  async moveOut(): Promise<void> {
    await this.#world.kube.resource(rebalances).delete(this.#tenant);
  }

  async edit(targettracking: Readonly<Record<string, unknown>>): Promise<void> {
    const body = { spec: { policy: { targettracking } } };
    await this.#world.kube.resource(rebalances).patch(this.#tenant, { type: "merge", body });
  }

  /** Why the record does not have the weight that the metric asks for; nothing if it has. */
  astray(): string | undefined {
    // As the original has it: what is above the target goes to the record, in units of the base's share.
    const wanted = Math.ceil((((this.#metric ?? NaN) - TARGET) / TARGET) * BASE);
    const weight = this.#world.weight(this.record);
    return weight === wanted ? undefined : `${this.record} has weight ${weight ?? "none"}, not ${wanted}`;
  }

  get #tenant(): { readonly namespace: string; readonly name: string } {
    return { namespace: "default", name: `${this.record.replaceAll(".", "-")}-${this.#tenants}` };
  }
}
