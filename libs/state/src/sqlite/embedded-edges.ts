import type { Logger } from "@evenkeel/runtime";
import { checkName, checkText } from "../arguments.ts";
import { type Listener, Listeners } from "../listeners.ts";
import { counted, type StateMetrics } from "../metrics.ts";
import type { Edges, Notice } from "../state.ts";

/** Edges inside one process. They are delivered after the publisher has gone on, as from a server. */
export class EmbeddedEdges implements Edges {
  readonly #listeners: Listeners;
  readonly #metrics: StateMetrics;

  constructor(log: Logger, metrics: StateMetrics) {
    this.#listeners = new Listeners(log);
    this.#metrics = metrics;
  }

  async publish(object: string, topic: string, text: string): Promise<void> {
    const channel = channelOf(object, topic);
    const notice: Notice = { kind: "edge", text: checkText("an edge", text) };
    await counted(this.#metrics, "publish", () => {
      setImmediate(() => this.#listeners.notifyAll(channel, notice));
      return Promise.resolve();
    });
  }

  subscribe(object: string, topic: string, listener: Listener): () => void {
    const channel = channelOf(object, topic);
    const own: Listener = (notice) => listener(notice);
    setImmediate(() => {
      if (left) return;
      this.#listeners.add(channel, own);
      this.#listeners.notify(channel, own, { kind: "gap" });
    });
    let left = false;
    return () => {
      left = true;
      this.#listeners.remove(channel, own);
    };
  }
}

function channelOf(object: string, topic: string): string {
  return `${checkName("object", object)} ${checkName("topic", topic)}`;
}
