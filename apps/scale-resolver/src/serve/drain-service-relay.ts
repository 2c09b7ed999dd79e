import { randomUUID } from "node:crypto";
import type { Clock, Component, Logger, Term } from "@evenkeel/runtime";
import type { Notice, State as SharedState } from "@evenkeel/state";

export interface DrainRelayOptions {
  readonly state: Pick<SharedState, "edges" | "available">;
  /** This replica, as no other is named. */
  readonly instance: string;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Answers a call that came to another replica; both are encoded messages. */
export type Answering = (method: string, request: Uint8Array) => Uint8Array;

const OBJECT = "drains";
const CALLS = "calls";
/** How long the leader may take, in milliseconds, and how many calls may wait for it. */
const PATIENCE = 2000;
const MOST = 1000;

/**
 * Takes a call to whoever leads, over the shared state, and its answer back: callers need not know who that is. The caller's rights are
 * looked at where the call came in.
 */
export class DrainRelay implements Component {
  readonly name = "drain relay";
  readonly #options: DrainRelayOptions;
  readonly #waiting = new Map<string, (answer: Uint8Array | undefined) => void>();
  #answering: Answering | undefined;
  #unsubscribe: (() => void)[] = [];
  #term: Pick<Term, "held"> | undefined;

  constructor(options: DrainRelayOptions) {
    this.#options = options;
  }

  get leads(): boolean {
    return this.#term?.held() ?? false;
  }

  /** Who answers while this replica leads. */
  answerBy(answering: Answering): void {
    this.#answering = answering;
  }

  start(): void {
    const { state, instance } = this.#options;
    this.#unsubscribe = [
      state.edges.subscribe(OBJECT, CALLS, (notice) => this.#answer(notice)),
      state.edges.subscribe(OBJECT, topicOf(instance), (notice) => this.#resolve(notice)),
    ];
  }

  stop(): void {
    for (const end of this.#unsubscribe) end();
    for (const resolve of this.#waiting.values()) resolve(undefined);
  }

  /** For the length of a term. */
  lead = async (term: Pick<Term, "signal" | "held">): Promise<void> => {
    const { signal } = term;
    this.#term = term;
    await new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
    this.#term = undefined;
  };

  /** What the leader answers; nothing if it cannot be asked now, or is silent. */
  async ask(method: string, request: Uint8Array): Promise<Uint8Array | undefined> {
    const { state, instance, clock, log } = this.#options;
    if (!state.available || this.#waiting.size >= MOST) return undefined;
    const id = randomUUID();
    const { promise, resolve } = Promise.withResolvers<Uint8Array | undefined>();
    this.#waiting.set(id, resolve);
    const cancel = clock.schedule(PATIENCE, () => resolve(undefined));
    try {
      await state.edges.publish(OBJECT, CALLS, [id, instance, method, textOf(request)].join(" "));
      return await promise;
    } catch (error) {
      log.warn({ error, method }, "a call could not be taken to the leader");
      return undefined;
    } finally {
      cancel();
      this.#waiting.delete(id);
    }
  }

  #answer(notice: Notice): void {
    if (notice.kind !== "edge" || !this.leads || !this.#answering) return;
    const { state, log } = this.#options;
    const [id = "", from = "", method = "", request = ""] = notice.text.split(" ");
    try {
      const answer = textOf(this.#answering(method, bytesOf(request)));
      state.edges.publish(OBJECT, topicOf(from), `${id} ${answer}`).catch((error: unknown) => {
        log.warn({ error, method, from }, "an answer could not be taken back");
      });
    } catch (error) {
      log.warn({ error, method, from }, "a call of another replica was not answered");
    }
  }

  #resolve(notice: Notice): void {
    if (notice.kind !== "edge") return;
    const [id = "", answer = ""] = notice.text.split(" ");
    this.#waiting.get(id)?.(bytesOf(answer));
  }
}

function topicOf(instance: string): string {
  return `answers/${instance}`;
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64");
}

function bytesOf(text: string): Uint8Array {
  return Buffer.from(text, "base64");
}
