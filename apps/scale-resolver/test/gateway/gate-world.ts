import { nameOfKey } from "@evenkeel/kube";
import { MetricRegistry } from "@evenkeel/metrics";
import { type Clock, createLogger, systemClock } from "@evenkeel/runtime";
import { eventually } from "@evenkeel/runtime/testing";
import { metrics } from "../../src/metrics.ts";
import { Gate } from "../../src/gateway/gate/gate.ts";
import type { GateOptions } from "../../src/gateway/gate/gate-options.ts";
import type { GateRoute } from "../../src/gateway/gate/gate-route.ts";
import { freePort } from "./pod-server.ts";
import { ProbeRules } from "../../src/gateway/gate/probe-rules.ts";

export const KEY = "shop/checkout";
export const HOST = "127.0.0.1";

type Hold = GateRoute["hold"];

export const HOLD: Hold = {
  timeout: 60_000,
  maxPending: 15_000,
  maxPendingBytes: 2 ** 30,
  concurrencyPerPod: null,
  retryAfterSeconds: 3,
  protocol: "auto",
  placeholder: null,
};

export interface RouteChanges extends Partial<Omit<GateRoute, "hold">> {
  readonly hold?: Partial<Hold>;
}

/** A gate on loopback with its calls. */
export class GateWorld implements AsyncDisposable {
  readonly gate: Gate;
  readonly registry = new MetricRegistry();
  readonly wakes: string[] = [];
  readonly changes: string[] = [];
  readonly firstAnswers: number[] = [];
  readonly lines: string[] = [];

  private constructor(options: Partial<GateOptions>, clock: Clock) {
    this.gate = new Gate({
      host: HOST,
      port: 0,
      hostHeaders: ["X-Envoy-Decorator-Operation", "Host"],
      overall: { count: 15_000, bytes: 2 ** 30 },
      clock,
      log: createLogger({
        service: "test",
        level: "info",
        secrets: [],
        destination: { write: (line) => this.lines.push(line) },
      }),
      registry: this.registry,
      metrics: this.registry.register(metrics),
      wake: (key) => this.wakes.push(key),
      changed: (key) => this.changes.push(key),
      firstAnswer: (_key, milliseconds) => this.firstAnswers.push(milliseconds),
      ...options,
    });
  }

  static async start(options: Partial<GateOptions> = {}, clock: Clock = systemClock): Promise<GateWorld> {
    const world = new GateWorld(options, clock);
    await world.gate.forwarder.start();
    return world;
  }

  /** Adds a Service with one port, and returns the gate's port for it. */
  async put(key = KEY, changes: RouteChanges = {}): Promise<number> {
    const listen = changes.ports ? 0 : await freePort();
    await this.gate.put(routeOf(key, listen, changes));
    return listen;
  }

  get mainPort(): number {
    return this.gate.forwarder.port;
  }

  /** The access log. */
  accessLog(): Record<string, unknown>[] {
    return this.lines
      .map((line) => JSON.parse(line) as { request?: Record<string, unknown> })
      .flatMap(({ request }) => (request ? [request] : []));
  }

  /** The value of a series, as it is exposed. */
  async sample(series: string): Promise<number | undefined> {
    const text = await this.registry.text();
    const line = text.split("\n").find((one) => one.startsWith(`${series} `));
    return line === undefined ? undefined : Number(line.slice(series.length + 1));
  }

  /** Resolves when a pod has refused a connection and every request waits again. */
  async refused(): Promise<void> {
    await eventually(async () => {
      const refusals = await this.sample('evenkeel_forward_failures_total{kind="connect"}');
      return (refusals ?? 0) > 0 && this.gate.activity(KEY).inFlight === 0;
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const now = AbortSignal.abort();
    await this.gate.forwarder.drain(now);
    await this.gate.forwarder.stop(now);
  }
}

export function routeOf(key: string, listen: number | null, { hold, ...changes }: RouteChanges = {}): GateRoute {
  const { namespace = "", name: service } = nameOfKey(key);
  return {
    key,
    namespace,
    service,
    ports: [{ name: "http", port: 80, listen }],
    probes: new ProbeRules([]),
    byHeader: true,
    dial: "pod",
    clusterAddress: null,
    ...changes,
    hold: { ...HOLD, ...hold },
  };
}
