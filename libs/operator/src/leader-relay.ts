import { randomUUID } from "node:crypto";
import type { Clock, Component, Logger, Term } from "@evenkeel/runtime";
import type { Notice, State as SharedState } from "@evenkeel/state";

export interface LeaderRelayOptions {
  /** What is called, such as `drains`: relays of different names do not meet. */
  readonly name: string;
  readonly state: Pick<SharedState, "edges" | "available">;
  /** Name of this replica, unique among the replicas. */
  readonly instance: string;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Answers a call that another replica received. Request and answer are encoded messages. */
export type Answering = (method: string, request: Uint8Array) => Uint8Array;

const CALLS = "calls";
/** Milliseconds that the leader has for an answer. */
const DEADLINE = 2000;
/** Calls that may wait for an answer at once. */
const MOST = 1000;

/**
 * Passes a call to the leader over the shared state, and its answer back, so that callers need not know which replica
 * leads. The replica that receives the call checks the caller's rights.
 */
export class LeaderRelay implements Component {
  readonly name: string;
  readonly #options: LeaderRelayOptions;
  readonly #waiting = new Map<string, (answer: Uint8Array | undefined) => void>();
  #answering: Answering | undefined;
  #unsubscribe: (() => void)[] = [];
  #term: Pick<Term, "held"> | undefined;

  constructor(options: LeaderRelayOptions) {
    this.#options = options;
    this.name = `${options.name} relay`;
  }

  /** Whether this replica leads, so that it answers calls itself. */
  get leads(): boolean {
    return this.#term?.held() ?? false;
  }

  /** Sets what answers while this replica leads. */
  answerBy(answering: Answering): void {
    this.#answering = answering;
  }

  start(): void {
    const { name, state, instance } = this.#options;
    this.#unsubscribe = [
      state.edges.subscribe(name, CALLS, (notice) => this.#answer(notice)),
      state.edges.subscribe(name, topicOf(instance), (notice) => this.#resolve(notice)),
    ];
  }

  stop(): void {
    for (const end of this.#unsubscribe) end();
    for (const resolve of this.#waiting.values()) resolve(undefined);
  }

  /** A leader's loop: this replica answers until the term ends. */
  lead = async (term: Pick<Term, "signal" | "held">): Promise<void> => {
    const { signal } = term;
    this.#term = term;
    await new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
    this.#term = undefined;
  };

  /** The leader's answer; undefined if the state is not available, or no leader answers in time. */
  async ask(method: string, request: Uint8Array): Promise<Uint8Array | undefined> {
    const { name, state, instance, clock, log } = this.#options;
    if (!state.available || this.#waiting.size >= MOST) return undefined;
    const id = randomUUID();
    const { promise, resolve } = Promise.withResolvers<Uint8Array | undefined>();
    this.#waiting.set(id, resolve);
    const cancel = clock.schedule(DEADLINE, () => resolve(undefined));
    try {
      await state.edges.publish(name, CALLS, [id, instance, method, textOf(request)].join(" "));
      return await promise;
    } catch (error) {
      log.warn({ error, method }, "a call could not be passed to the leader");
      return undefined;
    } finally {
      cancel();
      this.#waiting.delete(id);
    }
  }

  #answer(notice: Notice): void {
    if (notice.kind !== "edge" || !this.leads || !this.#answering) return;
    const { name, state, log } = this.#options;
    const [id = "", from = "", method = "", request = ""] = notice.text.split(" ");
    try {
      const answer = textOf(this.#answering(method, bytesOf(request)));
      state.edges.publish(name, topicOf(from), `${id} ${answer}`).catch((error: unknown) => {
        log.warn({ error, method, from }, "the answer to a call could not be passed back");
      });
    } catch (error) {
      log.warn({ error, method, from }, "a call from another replica was not answered");
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
