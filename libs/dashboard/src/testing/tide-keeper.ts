import { EventEmitter } from "node:events";
import {
  type Decider,
  type Decision,
  type Host,
  readSettings,
  runtimeSettings,
  Service,
  setting,
  type Snapshot,
  splitCommandLine,
  systemClock,
} from "@evenkeel/runtime";
import { dashboard } from "../dashboard.ts";
import { dashboardSettings } from "../settings.ts";
import { watchRoute } from "./watch-route.ts";

export interface TideSnapshot extends Snapshot {
  readonly tank: string;
  /** Per cent; null is unknown. */
  readonly level: number | null;
}

const decider = {
  actions: ["hold", "pump"],
  reasons: ["Level", "Low", "NoData"],
  decide: ({ tank, level }: TideSnapshot) => {
    const object = { kind: "Tank", namespace: "ship", name: tank };
    if (level === null) {
      return { object, action: "hold", reason: "NoData", before: null, after: null, message: `${tank}: no reading` };
    }
    const low = level < 50;
    return {
      object,
      action: low ? "pump" : "hold",
      reason: low ? "Low" : "Level",
      before: level,
      after: low ? 50 : level,
      message: low ? `${tank} stands at ${level} %, 50 % is wanted` : `${tank} stands at ${level} %, which is enough`,
    };
  },
} satisfies Decider<TideSnapshot>;

const definition = {
  name: "tide-keeper",
  summary: "Keeps tanks level for tests of the dashboard",
  version: "1.2.3",
  settings: {
    ...runtimeSettings,
    ...dashboardSettings,
    interval: setting.duration({ default: "30s", help: "Time between two soundings" }),
    radioToken: setting.text({ optional: true, secret: true, help: "Token of the radio" }),
  },
  metrics: {},
  decider,
};

/** A service of the runtime with a dashboard, without a process of its own; its admin port is the system's choice. */
export class TideKeeper implements AsyncDisposable {
  readonly service: Service<typeof definition.settings, typeof definition.metrics, typeof decider>;
  readonly #host = Object.assign(new EventEmitter(), {
    argv: [],
    env: {},
    stdout: Object.assign(new EventEmitter(), { write: () => true }),
    stderr: Object.assign(new EventEmitter(), { write: () => true }),
    exit: () => undefined,
  });
  readonly #stopping = new AbortController();
  #run: Promise<unknown> = Promise.resolve();

  /** `main` is where its sources would be; the built files are found from it. */
  constructor(main: string, args: readonly string[] = []) {
    const loopback = ["--listen-host=127.0.0.1", "--admin-port=0", "--health-port=0", "--shutdown-delay=0"];
    const reading = readSettings(
      definition.settings,
      splitCommandLine(definition.settings, [...loopback, ...args]).flags,
      {},
    );
    if (!reading.ok) throw new TypeError(reading.faults.join("\n"));
    this.service = new Service(definition, reading, this.#host as unknown as Host, systemClock);
    const { admin, decisions } = this.service;
    watchRoute(admin.routes, decisions.ring, this.#stopping.signal);
    dashboard(this.service, main);
  }

  /** Resolves when it is ready. */
  async start(): Promise<this> {
    const ready = Promise.withResolvers<undefined>();
    // The last component to start; doors are open by then.
    const start = () => {
      ready.resolve(undefined);
      return Promise.resolve();
    };
    this.service.use({ name: "watch", start, stop: () => Promise.resolve() });
    this.#run = this.service.run();
    await Promise.race([ready.promise, this.#run]);
    return this;
  }

  get url(): string {
    return `http://127.0.0.1:${this.service.admin.port}`;
  }

  decide(tank: string, level: number | null, at = new Date()): Decision {
    return this.service.decisions.decide({ at: at.toISOString(), tank, level });
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#host.emit("SIGTERM", "SIGTERM");
    await this.#run;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}
