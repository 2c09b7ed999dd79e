import { EventEmitter } from "node:events";
import {
  type Decider,
  type Host,
  readSettings,
  Service,
  type ServiceDefinition,
  type ServiceSettings,
  splitCommandLine,
  systemClock,
} from "@evenkeel/runtime";

/**
 * A service of the runtime inside this process, on loopback and on ports of the system's choosing. It is ready when
 * `run` resolves; `stop` ends it as SIGTERM would.
 */
export class RunningService<T extends ServiceSettings, D extends Decider> implements AsyncDisposable {
  readonly service: Service<T, Record<string, never>, D>;
  /** Aborts when the service begins to stop. */
  readonly stopping: AbortSignal;
  readonly #stopping = new AbortController();
  readonly #host = new QuietHost();
  #exit: Promise<unknown> = Promise.resolve();

  constructor(definition: ServiceDefinition<T, Record<string, never>, D>, args: readonly string[] = []) {
    const given = (name: string) => args.some((flag) => flag.startsWith(`--${name}=`));
    const defaults = ["listen-host=127.0.0.1", "admin-port=0", "health-port=0", "shutdown-delay=0"]
      .filter((flag) => !given(flag.slice(0, flag.indexOf("="))))
      .map((flag) => `--${flag}`);
    const { flags } = splitCommandLine(definition.settings, [...defaults, ...args]);
    const reading = readSettings(definition.settings, flags, {});
    if (!reading.ok) throw new TypeError(reading.faults.join("\n"));
    this.service = new Service(definition, reading, this.#host as unknown as Host, systemClock);
    this.stopping = this.#stopping.signal;
  }

  async run(): Promise<this> {
    const ready = Promise.withResolvers<undefined>();
    const start = () => {
      ready.resolve(undefined);
      return Promise.resolve();
    };
    // The last component to start.
    this.service.use({ name: "watch", start, stop: () => Promise.resolve() });
    this.#exit = this.service.run();
    await Promise.race([ready.promise, this.#exit]);
    return this;
  }

  get url(): string {
    return `http://127.0.0.1:${this.service.admin.port}`;
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#host.emit("SIGTERM", "SIGTERM");
    await this.#exit;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}

/** A process that says nothing and never ends. */
class QuietHost extends EventEmitter {
  readonly argv: readonly string[] = [];
  readonly env = {};
  readonly stdout = Object.assign(new EventEmitter(), { write: () => true });
  readonly stderr = Object.assign(new EventEmitter(), { write: () => true });
  exit(): void {
    // A test ends its process itself.
  }
}
