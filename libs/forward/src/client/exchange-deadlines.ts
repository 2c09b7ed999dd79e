import type { Readable } from "node:stream";
import type { Engine } from "../engine.ts";
import type { Deadlines } from "../limits.ts";
import { Timed } from "../wheel.ts";

export type Phase = "routing" | "trying" | "answering" | "tunnel" | "ended";

/** Which deadline of an exchange has passed. */
export type Passed = "late" | "connect" | "client" | "expect" | "none";

/**
 * The deadlines of one exchange. The limits of its destination are read once, as plain numbers, because several are
 * compared for each request. All times are monotonic milliseconds.
 */
export abstract class ExchangeDeadlines extends Timed {
  abstract readonly body: Readable;
  abstract readonly expectsContinue: boolean;
  protected readonly engine: Engine;
  protected phase: Phase = "routing";
  protected continueSent = false;
  protected bodyIsTaken = false;
  /** When the request was sent to its first destination. */
  protected routed = 0;
  /** When the last try began, or the client's body last moved. */
  protected tried = 0;
  /** When the last part of the response moved, or its head arrived. */
  protected moved = 0;
  /** Whether the client has read everything that was written so far. */
  protected taken = true;
  #connect = 0;
  #response = 0;
  #total = 0;
  #expect = 0;
  #idle = 0;

  constructor(engine: Engine) {
    super();
    this.engine = engine;
  }

  /** Whether the try that runs has a connection; undefined if none runs. */
  protected abstract readonly connected: boolean | undefined;

  /** Uses the limits of a destination; `own` if this process answers, which reads the body when it wants. */
  protected limitBy(deadlines: Partial<Deadlines> | undefined, own: boolean): void {
    const { connect, response, total, expect, idle } = this.engine.deadlines;
    this.#connect = deadlines?.connect ?? connect;
    this.#response = deadlines?.response ?? response;
    this.#total = deadlines?.total ?? total;
    this.#expect = own ? 0 : (deadlines?.expect ?? expect);
    this.#idle = deadlines?.idle ?? idle ?? 0;
  }

  /** Sets the timer to the next deadline of the phase. */
  protected arm(now: number): void {
    let due = dueAt(this.#total, this.routed);
    if (this.phase === "trying") {
      due = Math.min(due, dueAt(this.#response, this.tried));
      if (this.connected !== true) due = Math.min(due, dueAt(this.#connect, this.tried));
      if (this.#isWithheld) due = Math.min(due, dueAt(this.#expect, this.tried));
    }
    due = Math.min(due, this.#idleDue());
    if (due === Infinity) this.engine.wheel.clear(this);
    else this.engine.wheel.set(this, due - now);
  }

  /** The head of the response has arrived. */
  protected armAnswer(): void {
    if (this.#idle <= 0) return;
    this.moved = this.engine.clock.monotonic();
    this.arm(this.moved);
  }

  /** The first part of the body was read. */
  protected armBody(): void {
    if (this.#idle > 0) this.arm(this.tried);
  }

  /** The whole response is written. Only the client can delay its end. */
  protected armClient(): void {
    if (this.phase !== "answering") return;
    if (this.#idle > 0) this.engine.wheel.set(this, this.#idle);
    else this.engine.wheel.clear(this);
  }

  /** The deadline that has passed at `now`, while a destination is asked or answers. */
  protected passed(now: number): Passed {
    const { tried, connected } = this;
    const isTrying = this.phase === "trying";
    const isIdle = now >= this.#idleDue();
    if (!isTrying && (connected === undefined || (!this.taken && isIdle))) return "client";
    if (isIdle || now >= dueAt(this.#total, this.routed)) return "late";
    if (!isTrying) return "none";
    if (now >= dueAt(this.#response, tried)) return "late";
    if (connected !== true) return now >= dueAt(this.#connect, tried) ? "connect" : "none";
    return this.#isWithheld && now >= dueAt(this.#expect, tried) ? "expect" : "none";
  }

  get #isWithheld(): boolean {
    return this.expectsContinue && !this.continueSent;
  }

  /** When the idle limit passes. Before the head of the response, only a body that is being sent can be idle. */
  #idleDue(): number {
    if (this.phase === "answering") return dueAt(this.#idle, this.moved);
    return this.bodyIsTaken && !this.body.readableEnded ? dueAt(this.#idle, this.tried) : Infinity;
  }
}

function dueAt(limit: number, since: number): number {
  return limit > 0 ? since + limit : Infinity;
}
