import type { Logger } from "@evenkeel/runtime";
import type { Notice } from "./state.ts";

export type Listener = (notice: Notice) => void;

/** Who listens to which channel in this process. */
export class Listeners {
  readonly #log: Logger;
  readonly #byChannel = new Map<string, Set<Listener>>();

  constructor(log: Logger) {
    this.#log = log;
  }

  get channels(): readonly string[] {
    return [...this.#byChannel.keys()];
  }

  has(channel: string): boolean {
    return this.#byChannel.has(channel);
  }

  add(channel: string, listener: Listener): void {
    const listeners = this.#byChannel.get(channel) ?? new Set();
    this.#byChannel.set(channel, listeners.add(listener));
  }

  remove(channel: string, listener: Listener): void {
    const listeners = this.#byChannel.get(channel);
    listeners?.delete(listener);
    if (listeners?.size === 0) this.#byChannel.delete(channel);
  }

  notifyAll(channel: string, notice: Notice): void {
    for (const listener of [...(this.#byChannel.get(channel) ?? [])]) this.notify(channel, listener, notice);
  }

  /** Nothing if it has left meanwhile. One listener's fault is not the others'. */
  notify(channel: string, listener: Listener, notice: Notice): void {
    if (!this.#byChannel.get(channel)?.has(listener)) return;
    try {
      listener(notice);
    } catch (error) {
      this.#log.error({ error, channel }, "a listener failed; it still gets the next notice");
    }
  }
}
