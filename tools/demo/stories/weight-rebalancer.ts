import { secrets } from "@evenkeel/kube";
import {
  ACCESS_KEY_AUTH,
  accessKeySecret,
  type Prometheus,
  type RecordSet,
  type Route53,
  Route53Client,
  startPrometheus,
  startRoute53,
} from "@evenkeel/sim";
import { rebalances, type StoredRebalance } from "@evenkeel/weight-rebalancer";
import type { Check, Control, Scene, Stage, Story } from "../src/story.ts";

const ZONE = "Z0DEMO";
const NAME = "shop.example.com";
const QUERY = 'sum(rate(http_requests_total{service="shop"}[1m]))';
const REBALANCE = { namespace: "default", name: "shop" };

/** A day passes in four minutes. */
const DAY = 240;
const SPIKE = 30;

/** Requests a second at a time of the demo's day: quiet at night, three times the target at noon. */
export function traffic(seconds: number): number {
  return Math.round(1900 - 1400 * Math.cos((seconds / DAY) * 2 * Math.PI));
}

/** Two sites share a shop. What the first cannot bear goes to the second. */
const story: Story = {
  service: "weight-rebalancer",
  about: `The weight of the site "aws" follows the shop's traffic, so that the site "onpremises" bears 1000 requests a second`,
  open: async (stage) => {
    const route53 = await startRoute53({ propagation: 3000 });
    route53.addZone(ZONE, "example.com", [site("onpremises", 8, "192.0.2.10"), site("aws", 1, "192.0.2.20")]);
    return new Shop(stage, route53, await startPrometheus());
  },
};

export default story;

function site(setIdentifier: string, weight: number, address: string): RecordSet {
  return { name: NAME, type: "A", setIdentifier, weight, ttl: 5, values: [address] };
}

class Shop implements Scene {
  readonly flags = ["--route53-batch-window=500ms"];
  readonly env = {};
  readonly controls: readonly Control[];
  readonly checks: readonly Check[];
  readonly #stage: Stage;
  readonly #route53: Route53;
  readonly #prometheus: Prometheus;
  readonly #startedAt = performance.now();
  /** Requests a second, instead of what the day would have; for a story at speed. */
  #fixed: number | undefined;
  #spikeEnds = 0;
  #hasMetrics = true;

  constructor(stage: Stage, route53: Route53, prometheus: Prometheus) {
    this.#stage = stage;
    this.#route53 = route53;
    this.#prometheus = prometheus;
    prometheus.answer(QUERY, () => ({
      kind: "vector",
      samples: this.#hasMetrics ? [{ metric: {}, value: this.#load }] : [],
    }));
    this.controls = this.#buttons();
    this.checks = this.#steps();
  }

  play(): () => void {
    void this.#create().catch((error: unknown) =>
      this.#stage.tell(`the Rebalance could not be made: ${String(error)}`),
    );
    return () => undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#route53.stop(), this.#prometheus.stop()]);
  }

  get #load(): number {
    const seconds = (performance.now() - this.#startedAt) / 1000;
    const usual = this.#fixed ?? traffic(seconds);
    return seconds < this.#spikeEnds ? usual * 2 : usual;
  }

  #buttons(): readonly Control[] {
    return [
      {
        name: "spike",
        label: "Traffic spike",
        run: () => {
          this.#spikeEnds = (performance.now() - this.#startedAt) / 1000 + SPIKE;
          return `traffic doubles for ${SPIKE} s`;
        },
      },
      {
        name: "metrics",
        label: "Metrics vanish / return",
        run: () => {
          this.#hasMetrics = !this.#hasMetrics;
          return this.#hasMetrics ? "Prometheus has samples again" : "Prometheus has no samples any more";
        },
      },
      {
        name: "edit",
        label: "A user edits the record",
        run: async () => {
          await this.#edit(3);
          return `a user set the record aws of ${NAME} to weight 3`;
        },
      },
      {
        name: "throttle",
        label: "Route 53 throttles (20 s)",
        run: () => {
          this.#throttle(true);
          setTimeout(() => this.#throttle(false), 20_000).unref();
          return "Route 53 answers Throttling for 20 s";
        },
      },
    ];
  }

  #steps(): readonly Check[] {
    return [
      {
        name: "the weight follows the traffic: 3000 against 1000 with base 8 is 16",
        act: () => this.#begin(3000),
        outcome: () => this.#weightIs(16),
      },
      {
        name: "a spike raises it within its bounds: 60 and not 96",
        act: () => void (this.#fixed = 13_000),
        outcome: () => this.#weightIs(60),
      },
      {
        name: "it comes down with the traffic",
        act: () => void (this.#fixed = 2000),
        outcome: () => this.#weightIs(8),
      },
      {
        name: "without metrics the weight stays, and a condition says why",
        act: () => void (this.#hasMetrics = false),
        outcome: async () => {
          await this.#conditionIs("MetricsAvailable", "False");
          this.#weightIs(8);
        },
      },
      {
        name: "metrics that are back are followed again",
        act: () => {
          this.#hasMetrics = true;
          this.#fixed = 3000;
        },
        outcome: async () => {
          this.#weightIs(16);
          await this.#conditionIs("MetricsAvailable", "True");
        },
      },
      { name: "a record that a user edits is restored", act: () => this.#edit(3), outcome: () => this.#weightIs(16) },
      {
        name: "while Route 53 throttles, a condition says so",
        act: () => {
          this.#throttle(true);
          this.#fixed = 4000;
        },
        outcome: () => this.#conditionIs("Throttled", "True"),
      },
      {
        name: "and the weight is written as soon as it does not",
        act: () => this.#throttle(false),
        outcome: async () => {
          this.#weightIs(24);
          await this.#conditionIs("Throttled", "False");
        },
      },
      {
        name: "when the Rebalance is deleted, the record has its first weight again",
        act: async () => {
          await this.#stage.kube.resource(rebalances).delete(REBALANCE);
        },
        outcome: () => this.#weightIs(1),
      },
    ];
  }

  async #begin(load: number): Promise<void> {
    this.#fixed = load;
    await this.#create();
  }

  async #create(): Promise<void> {
    const { url: endpoint } = this.#route53;
    const resource = { name: NAME, type: "A", identifier: "aws" };
    const tracking = { targetValue: 1000, baseValue: 8, maximum: 60, tolerance: 0.03 };
    await this.#stage.kube.resource(secrets).create(accessKeySecret(REBALANCE.namespace));
    await this.#stage.kube.resource(rebalances).create({
      apiVersion: "rebalancer.ch1aki.github.io/v1",
      kind: "Rebalance",
      metadata: REBALANCE,
      spec: {
        interval: "2s",
        policy: { targettracking: tracking },
        target: { route53: { hostedZoneID: ZONE, region: "us-east-1", endpoint, auth: ACCESS_KEY_AUTH, resource } },
        metrics: { prometheus: { address: this.#prometheus.url, query: QUERY } },
        onDelete: "revert",
      },
    });
  }

  /** As a person does with the console: the record is overwritten, whoever else writes it. */
  async #edit(weight: number): Promise<void> {
    await new Route53Client(this.#route53.url).change(ZONE, ["UPSERT", site("aws", weight, "192.0.2.20")]);
  }

  #throttle(on: boolean): void {
    this.#route53.limit(on ? { perSecond: 0.05, burst: 1 } : undefined);
  }

  #weightIs(expected: number): void {
    const weight = this.#route53.records(ZONE).find(({ setIdentifier }) => setIdentifier === "aws")?.weight;
    if (weight !== expected) throw new Error(`the record has weight ${String(weight)}, not ${expected}`);
  }

  async #conditionIs(type: string, expected: string): Promise<void> {
    const { status }: StoredRebalance = await this.#stage.kube.resource(rebalances).get(REBALANCE);
    const found = status?.conditions?.find((condition) => condition.type === type)?.status;
    if (found !== expected) throw new Error(`the condition ${type} is ${String(found)}, not ${expected}`);
  }
}
