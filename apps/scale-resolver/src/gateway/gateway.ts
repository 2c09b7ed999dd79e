import type { Clock, Component, Logger, Server } from "@evenkeel/runtime";
import type { MetricRegistry, Metrics } from "@evenkeel/metrics";
import { parseAddress, type State as SharedState } from "@evenkeel/state";
import type { Autoscalers } from "../act/autoscalers.ts";
import type { Scales } from "../act/scales.ts";
import { Waker } from "./waker.ts";
import type { metrics } from "../metrics.ts";
import { Activities } from "./activities.ts";
import { namedService } from "../observe/bindings.ts";
import type { ClusterView } from "../observe/cluster-view.ts";
import { Feeder } from "./feeder.ts";
import { Gate } from "./gate/gate.ts";
import type { WakeRecord } from "../serve/service-history.ts";
import { WakeTimer } from "./wake-timer.ts";

export interface GatewayOptions {
  readonly settings: {
    readonly listenHost: string | undefined;
    readonly state: string;
    readonly port: number;
    readonly hostHeaders: readonly string[];
    readonly maxPending: number;
    readonly maxPendingBytes: number;
    readonly uploadProbe: number;
    readonly warmUp: number;
    readonly settle: number;
  };
  readonly view: ClusterView;
  readonly state: SharedState;
  readonly scales: Scales;
  readonly autoscalers: Autoscalers;
  readonly instance: string;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
  readonly registry: MetricRegistry;
  readonly metrics: Metrics<typeof metrics>;
  /** Something changed that the next state of a Service may depend on. */
  readonly changed: (key: string) => void;
  /** A replica of the resolver stopped reporting, or reports again. */
  readonly silenceChanged: () => void;
  /** Called for each wake and for each update of it. */
  readonly woken: (key: string, wake: WakeRecord) => void;
  readonly use: (component: Component) => void;
  readonly open: (server: Server) => void;
}

/** The data path of this replica and its activity. */
export interface Gateway {
  readonly gate: Gate;
  readonly wakeTimer: WakeTimer;
  readonly activities: Activities;
  readonly waker: Pick<Waker, "hasWoken">;
}

/** Builds the data path: the gate, the waker for waiting requests, and the reports to other replicas. */
export function gateway(options: GatewayOptions): Gateway {
  const { settings, view, scales, autoscalers, instance, clock, random, log, metrics: table, changed, use } = options;
  const wakeTimer = new WakeTimer({
    clock,
    metrics: table,
    pending: (key) => gate.activity(key).pending,
    tell: options.woken,
  });
  const waker = new Waker({
    scales,
    autoscalers,
    clock,
    random,
    log,
    onScaled: (key, outcome) => {
      wakeTimer.scaled(key, outcome);
      table.operatorCalls.inc({ error: outcome === "failed" ? "failed" : "" });
      changed(key);
    },
  });
  const wake = (key: string) => {
    const workload = view.binding(key) ?? view.bindings.formerOf(key);
    if (!workload) return;
    wakeTimer.begin(key);
    waker.wake({ key, workload, needed: () => gate.activity(key).pending > 0 });
  };
  const gate: Gate = new Gate({
    host: settings.listenHost ?? "::",
    port: settings.port,
    hostHeaders: settings.hostHeaders,
    overall: { count: settings.maxPending, bytes: settings.maxPendingBytes },
    uploadProbe: settings.uploadProbe,
    clock,
    log,
    registry: options.registry,
    metrics: table,
    wake,
    changed: (key) => {
      if (gate.activity(key).pending === 0) wakeTimer.abandon(key);
      changed(key);
      activities.tell(key);
    },
    firstAnswer: (key) => wakeTimer.answered(key),
    unanswered: (key) => wakeTimer.unanswered(key),
  });
  const activities = new Activities({
    state: options.state,
    instance,
    keys: () => [...view.objects.values()].flatMap(namedService),
    local: (key) => gate.activity(key),
    resolvers: view.resolvers,
    shared: parseAddress(settings.state).home !== "sqlite",
    changed,
    silenceChanged: options.silenceChanged,
    clock,
    log,
  });
  use(waker);
  use(activities);
  options.open(gate.forwarder);
  const prepare = scales.prepare.bind(scales);
  const ready = (key: string) => {
    wakeTimer.ready(key);
    waker.awake(key);
  };
  const forgotten = (key: string) => wakeTimer.forget(key);
  use(new Feeder({ view, gate, clock, settle: settings.settle, log, ready, forgotten, prepare }));
  // The first burst of a cold process is slow, so requests run through the path before this replica reports ready. Its
  // ports are already open, because requests to a previous process at this address may still arrive.
  use({
    name: "warm-up",
    start: async () => {
      await gate.forwarder.warm({ within: settings.warmUp });
    },
  });
  return { gate, wakeTimer, activities, waker };
}
