import { FakeClock } from "./fake-clock.ts";
import { FakeHost } from "./fake-host.ts";
import type { Component, Server, Running } from "../lifecycle/component.ts";
import { Lifecycle } from "../lifecycle/lifecycle.ts";

export const DELAY = 5000;
export const DRAIN = 20_000;

/** A process that a test starts, signals and watches. `events` says what happened to its components, and when. */
export class Stage {
  readonly clock = new FakeClock();
  readonly host = new FakeHost();
  readonly lifecycle: Lifecycle;
  readonly events: string[] = [];
  readonly running = new Map<string, Running>();
  code: number | undefined;

  constructor() {
    const { clock, host } = this;
    const log = host.log();
    this.lifecycle = new Lifecycle({ host: host.host, clock, log, shutdownDelay: DELAY, drainTimeout: DRAIN });
  }

  note(event: string): void {
    this.events.push(`${this.clock.monotonic()} ${event}`);
  }

  component(name: string, parts: Partial<Component> = {}): Component {
    const { start, stop, ...rest } = parts;
    return {
      name,
      start: async (running) => {
        this.note(`start ${name}`);
        this.running.set(name, running);
        await start?.(running);
      },
      stop: async (deadline) => {
        this.note(`stop ${name}`);
        await stop?.(deadline);
      },
      ...rest,
    };
  }

  use(name: string, parts: Partial<Component> = {}): void {
    this.lifecycle.use(this.component(name, parts));
  }

  open(name: string, drain: Server["drain"] = () => Promise.resolve(0), parts: Partial<Component> = {}): void {
    this.lifecycle.open({
      ...this.component(name, parts),
      port: 8012,
      drain: (deadline) => {
        this.note(`drain ${name}`);
        return drain(deadline);
      },
    });
  }

  lead(name: string): void {
    this.lifecycle.leaders.add(name, async ({ signal }) => {
      this.note(`lead ${name}`);
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      this.note(`end ${name}`);
    });
  }

  /** Runs for as long as `milliseconds` of its clock. */
  async run(milliseconds = 0): Promise<void> {
    void this.lifecycle.run().then((code) => (this.code = code));
    await this.clock.advance(milliseconds);
  }

  async signal(signal: NodeJS.Signals, milliseconds = 120_000): Promise<void> {
    this.host.emit(signal, signal);
    await this.clock.advance(milliseconds);
  }

  get phases(): readonly unknown[] {
    return this.host.lines.flatMap(({ phase }) => (phase === undefined ? [] : [phase]));
  }

  /** Level and code of each line that has a code. */
  get complaints(): readonly string[] {
    return this.host.lines
      .filter(({ code }) => code !== undefined)
      .map(({ level, code, msg }) => `${String(level)} ${String(code)} ${String(msg)}`);
  }
}
