import { MetricRegistry, type Metrics, type MetricTable } from "@evenkeel/metrics";
import { adminRoutes, ownDecisionRoutes } from "./admin/admin-routes.ts";
import { healthRoutes } from "./admin/health-routes.ts";
import { HttpServer, type Status } from "./admin/index.ts";
import type { Clock } from "./clock.ts";
import { type Decider, Decisions } from "./decision/index.ts";
import type { Host } from "./host.ts";
import type { Component, Leadership, Loop, Server, Term } from "./lifecycle/index.ts";
import { Lifecycle } from "./lifecycle/lifecycle.ts";
import { periodically } from "./lifecycle/periodically.ts";
import { createLogger, type Logger } from "./log.ts";
import { serviceMetrics } from "./service-metrics.ts";
import type {
  adminTlsSettings,
  Reading,
  runtimeSettings,
  SettingsOf,
  SettingsTable,
  ShownSetting,
} from "./settings/index.ts";
import { showSettings } from "./settings/show.ts";

export type ServiceSettings = SettingsTable & typeof runtimeSettings;

/** Where gRPC methods are served as JSON. */
const GATEWAY = "/api/v1/:service/:method";

/** What a service is, apart from how it is wired: all that its reference pages, `--help` and `replay` need. */
export interface ServiceDefinition<T extends ServiceSettings, M extends MetricTable, D extends Decider> {
  readonly name: string;
  /** One sentence. */
  readonly summary: string;
  readonly version: string;
  readonly settings: T;
  readonly metrics: M;
  readonly decider: D;
  /** Settings that each are valid but cannot be meant together: one line each, saying what to change. */
  readonly contradictions?: (settings: SettingsOf<T>) => readonly string[];
}

/**
 * A service while it is put together and run. `main.ts` adds what the service consists of, in the order in which it
 * starts; settings, log, metrics, decisions, the admin and health servers and the lifecycle are here already.
 */
export class Service<T extends ServiceSettings, M extends MetricTable, D extends Decider> {
  readonly name: string;
  readonly settings: SettingsOf<T>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly registry = new MetricRegistry();
  readonly metrics: Metrics<M>;
  readonly decisions: Decisions<D>;
  readonly admin: HttpServer;
  readonly #definition: ServiceDefinition<T, M, D>;
  readonly #lifecycle: Lifecycle;
  readonly #shown: readonly ShownSetting[];
  readonly #startedAt: number;

  constructor(
    definition: ServiceDefinition<T, M, D>,
    { settings, sources }: Extract<Reading<T>, { ok: true }>,
    host: Host,
    clock: Clock,
  ) {
    const { name, version, settings: table, decider } = definition;
    // What each service reads of its own settings is typed by its table; what the runtime reads, by the common part.
    const common = settings as SettingsOf<typeof runtimeSettings> & Partial<SettingsOf<typeof adminTlsSettings>>;
    this.name = name;
    this.#definition = definition;
    this.#shown = showSettings(table, settings, sources);
    this.#startedAt = clock.monotonic();
    this.settings = settings;
    this.clock = clock;
    // A log without a reader neither ends the service nor causes further log lines.
    host.stdout.on("error", () => undefined);
    this.log = createLogger({
      service: name,
      level: common.logLevel,
      secrets: secretsOf(table, settings),
      destination: host.stdout,
    });
    this.registry.registerProcess();
    this.registry.register(serviceMetrics).build.set({ service: name, version }, 1);
    this.metrics = this.registry.register(definition.metrics);
    this.decisions = new Decisions({
      service: name,
      version,
      decider,
      dryRun: common.dryRun,
      recorder: { count: common.recordedSnapshots, bytes: common.recordedBytes },
      log: this.log.child({ component: "decisions" }),
      metrics: this.registry,
    });
    const { shutdownDelay, drainTimeout, listenHost } = common;
    this.#lifecycle = new Lifecycle({ host, clock, log: this.log, shutdownDelay, drainTimeout });
    this.afterTerm(() => {
      this.decisions.forgetAll();
      this.registry.endTerm();
    });

    // First to start and last to stop, so that probes and scrapes see the whole life of the process.
    const health = new HttpServer({
      name: "health",
      host: listenHost,
      port: common.healthPort,
      flag: "health-port",
      log: this.log,
    });
    healthRoutes(health.routes, this.#lifecycle);
    this.use(health);
    this.admin = new HttpServer({
      name: "admin",
      host: listenHost,
      port: common.adminPort,
      flag: "admin-port",
      tls: common.adminTls,
      log: this.log,
    });
    adminRoutes(this.admin.routes, { metrics: this.registry, status: () => this.status() });
    this.use(this.admin);
  }

  /** Adds a component: it starts after those before it, and stops before them. */
  use<C extends Component>(component: C): C {
    return this.#lifecycle.use(component);
  }

  /** Adds a component that takes requests: at shutdown it is drained first. */
  open<S extends Server>(server: S): S {
    return this.#lifecycle.open(server);
  }

  /** Sets the leader election. Without one, this process leads from start to stop. */
  electBy(leadership: Leadership): void {
    this.#lifecycle.leaders.leadership = leadership;
  }

  /** Adds work that the leader alone does. */
  lead(name: string, loop: Loop): void {
    this.#lifecycle.leaders.add(name, loop);
  }

  /** Adds work that the leader alone does, once every `interval` milliseconds. */
  leadEvery(name: string, interval: number, work: (term: Term) => Promise<void>): void {
    const log = this.log.child({ component: name });
    this.lead(name, periodically({ clock: this.clock, log, interval }, work));
  }

  /** Calls `listener` at the end of each term as leader, after all leader loops have ended. */
  afterTerm(listener: () => void): void {
    this.#lifecycle.leaders.afterTerm(listener);
  }

  async status(): Promise<Status> {
    return {
      service: this.#definition.name,
      summary: this.#definition.summary,
      version: this.#definition.version,
      phase: this.#lifecycle.phase,
      uptime: this.clock.monotonic() - this.#startedAt,
      unready: this.#lifecycle.unready(),
      settings: this.#shown,
      decisions: await this.decisions.ring.list({}, 20),
    };
  }

  /** Runs until a signal or a death ends it. Resolves with the exit code. */
  run(): Promise<number> {
    const { routes } = this.admin;
    // The JSON gateway of gRPC, where there is one, has the same paths with the decisions of every replica.
    if (!routes.hasRoute({ method: "GET", url: GATEWAY })) {
      const { decisions } = this;
      ownDecisionRoutes(routes, { decisions: decisions.ring, recording: (id) => decisions.recording(id) });
    }
    return this.#lifecycle.run();
  }
}

function secretsOf(table: SettingsTable, settings: Readonly<Record<string, unknown>>): readonly string[] {
  return Object.entries(table)
    .filter(([key, { secret }]) => secret && settings[key] !== undefined)
    .flatMap(([key]) => [settings[key]].flat().map(String));
}
