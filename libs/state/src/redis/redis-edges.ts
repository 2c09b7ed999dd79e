import type { Logger } from "@evenkeel/runtime";
import { checkText } from "../arguments.ts";
import type { Keys } from "../keys.ts";
import { type Listener, Listeners } from "../listeners.ts";
import type { StateMetrics } from "../metrics.ts";
import type { Edges } from "../state.ts";
import type { Calls } from "./calls.ts";
import type { RedisConnection } from "./connection.ts";

export interface EdgesOptions {
  readonly calls: Calls;
  readonly keys: Keys;
  /** A connection for subscriptions alone. */
  readonly connection: () => RedisConnection;
  readonly metrics: StateMetrics;
  readonly log: Logger;
}

/**
 * Subscriptions outlive connections: `resume` makes them anew on each, and tells everyone of the gap only when Redis
 * has confirmed, so that a listener that then reads has either read a change or gets its edge.
 */
export class RedisEdges implements Edges {
  readonly #options: EdgesOptions;
  readonly #listeners: Listeners;
  #resumed = false;

  constructor(options: EdgesOptions) {
    this.#options = options;
    this.#listeners = new Listeners(options.log);
  }

  async publish(object: string, topic: string, text: string): Promise<void> {
    const channel = this.#options.keys.edge(object, topic);
    checkText("an edge", text);
    await this.#options.calls.run("publish", channel, (client) => client.publish(channel, text));
  }

  subscribe(object: string, topic: string, listener: Listener): () => void {
    const channel = this.#options.keys.edge(object, topic);
    // A function of its own, so that the same listener can be given twice.
    const own: Listener = (notice) => listener(notice);
    this.#listeners.add(channel, own);
    this.#confirm([channel], () => this.#listeners.notify(channel, own, { kind: "gap" }));
    return () => {
      this.#listeners.remove(channel, own);
      const { isReady, client } = this.#options.connection();
      if (isReady && !this.#listeners.has(channel)) client.unsubscribe(channel).catch(() => undefined);
    };
  }

  receive(channel: string, text: string): void {
    this.#listeners.notifyAll(channel, { kind: "edge", text });
  }

  /** Called on each new connection. */
  resume(): void {
    if (this.#resumed) this.#options.metrics.gaps.inc({});
    this.#resumed = true;
    const { channels } = this.#listeners;
    if (channels.length === 0) return;
    this.#confirm(channels, () => {
      for (const channel of channels) this.#listeners.notifyAll(channel, { kind: "gap" });
    });
  }

  /** Nothing while the connection is away: `resume` will do it. */
  #confirm(channels: readonly string[], then: () => void): void {
    const { isReady, client } = this.#options.connection();
    if (!isReady) return;
    client.subscribe(...channels).then(then, (error: unknown) => {
      this.#options.log.warn({ error }, "a subscription was not confirmed");
      // Not known to be in effect, so it must be made anew. A refusal would only be repeated.
      if ((error as Error).name !== "ReplyError" && this.#options.connection().isReady) client.disconnect(true);
    });
  }
}
